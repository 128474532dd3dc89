// The model that a recording may be of: one of models/ that fits, or what was seen of it.
#pragma once

#include <string>

#include "sim/import/draft.hpp"
#include "sim/import/recording/recorded_model.hpp"
#include "sim/scenario/load.hpp"

namespace stepsim {

struct ProposedModel {
  std::string model;  ///< as a scenario says it: a name, or a map
  RecordedKind kind = RecordedKind::unknown;
  std::int64_t positions = 0;  ///< rows of a table of them, which bound the sequence; 0: none
};

/// The model with the fewest parameters that agrees with all that is known; where none does,
/// the recorded layers and widths, with a known model's for those that were not recorded. It
/// is listed as assumed. `split` is over how many ranks parameters are split: those that were
/// recorded are a share then.
ProposedModel propose_model(const RecordedModel& seen, int split, const Library& library,
                            Draft& draft);

/// The kind of a model that is stated. Throws UserError where there is none of that name.
ProposedModel stated_model(const std::string& name, const Library& library);

}  // namespace stepsim
