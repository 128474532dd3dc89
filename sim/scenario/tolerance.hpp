// What errors of predictions may be: limits that a suite states, and errors of earlier versions.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace stepsim {

/// Relative errors that a suite has to keep within; absent: no limit.
struct Tolerance {
  std::optional<double> row, mean, median, p90, bias;
};

/// Errors of a group of a suite's rows; those of the whole suite have no name and value.
struct RecordedErrors {
  std::string suite, name, value;
  int rows = 0;
  double mean = 0, median = 0, p90 = 0, max = 0, bias = 0;
};

struct ErrorRecord {
  std::vector<RecordedErrors> groups;
};

}  // namespace stepsim
