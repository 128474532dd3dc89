// A run of Megatron-LM by its options, wherever they come from.
#pragma once

#include <string>
#include <vector>

#include "sim/import/draft.hpp"
#include "sim/import/import_options.hpp"
#include "sim/import/megatron/megatron_options.hpp"
#include "sim/import/script/launchers.hpp"

namespace stepsim {

struct MegatronSource {
  std::string title;              ///< of the draft
  std::vector<PlacedWord> words;  ///< options and their values
  PlacedWord program;             ///< the file that has the options; "" where it is not known
  LaunchedGpus gpus;
  std::string model;  ///< a scenario's `model`; "": as the options describe it
};

/// Throws UserError where an option is missing or cannot be said.
Draft draft_of_megatron(const MegatronSource& source, const ImportOptions& options);

}  // namespace stepsim
