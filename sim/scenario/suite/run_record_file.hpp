// The file of recorded runs: validate/recorded_runs.csv.
//
// A table of its own beside validate/recorded.yaml, because each run of the program reads it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/scenario/load.hpp"
#include "sim/scenario/suite/run_record.hpp"

namespace stepsim {

/// The path of the table that belongs to a record: recorded_runs.csv beside recorded.yaml.
std::string runs_beside(const std::string& record);

/// Throws UserError with every mistake, or IoError when the file cannot be read.
std::vector<RecordedRuns> load_recorded_runs(const std::string& path);

/// The runs of the first folder of the library that has validate/recorded_runs.csv; nothing where
/// none has.
std::optional<std::vector<RecordedRuns>> recorded_runs_of(const Library& library);

/// The text of such a file, in which errors are per cent with three decimals.
std::string to_csv(const std::vector<RecordedRuns>& runs);

}  // namespace stepsim
