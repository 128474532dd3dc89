// What validated rows leave in the record of runs.
#pragma once

#include <string>
#include <vector>

#include "sim/scenario/suite/run_record.hpp"
#include "sim/validation/score.hpp"

namespace stepsim {

/// The rows that have a prediction, by suite, traits and why they are known. Sorted.
std::vector<RecordedRuns> recorded_runs(const std::vector<ValidationRow>& rows);

/// `record` with what its suites are now; suites that were not scored stay. Sorted.
std::vector<RecordedRuns> updated(const std::vector<RecordedRuns>& record,
                                  const std::vector<RecordedRuns>& now);

/// One line for each kind of run whose mean or number is another than in the record; empty when
/// none is.
std::string difference(const std::vector<RecordedRuns>& record,
                       const std::vector<RecordedRuns>& now);

}  // namespace stepsim
