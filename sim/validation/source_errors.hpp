// The errors of sources that nobody had seen: what a setting of one's own is to be measured by.
//
// A source is all that one publisher measured. Where constants of its fabric, its hosts or its
// clocks came from itself, or were looked for with its errors in view, its rows are predicted
// without them (key `unseen` of a suite).
#pragma once

#include <vector>

#include "sim/scenario/suite/run_record.hpp"
#include "sim/validation/errors.hpp"

namespace stepsim {

struct SourceErrors {
  int sources = 0;
  Errors rows;        ///< each row counts the same; rows that are known not to be met are left out
  Errors with_known;  ///< all rows
  double mean = 0, bias = 0;  ///< of sources' means and biases: each source counts the same
};

/// The errors of the runs, each predicted without what its publisher measured.
SourceErrors source_errors(const std::vector<RecordedRuns>& runs);

}  // namespace stepsim
