// What kind of run a scenario is, and what validated rows of that kind leave in the record.
#pragma once

#include <string>
#include <vector>

#include "sim/scenario/scenario.hpp"
#include "sim/scenario/suite/run_record.hpp"
#include "sim/validation/score.hpp"

namespace stepsim {

/// The entries of the rows that have a prediction, by suite, traits and the reason for which they
/// are known. Sorted.
std::vector<RecordedRuns> recorded_runs(const std::vector<ValidationRow>& rows);

/// `record`, with the suites in `now` replaced; suites that were not scored stay. Sorted.
std::vector<RecordedRuns> updated(const std::vector<RecordedRuns>& record,
                                  const std::vector<RecordedRuns>& now);

/// One line for each kind of run whose mean or number differs from the record; empty when none
/// does.
std::string difference(const std::vector<RecordedRuns>& record,
                       const std::vector<RecordedRuns>& now);

RunTraits traits_of(const Scenario& scenario);

}  // namespace stepsim
