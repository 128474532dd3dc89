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
  /// Rows that are predicted not to fit in memory, of whole suites alone; absent: none.
  std::optional<int> not_fitting = {};
};

/// How often the setting of a suite's runs that is predicted to be the fastest was it
/// (sim/validation/choices.hpp).
struct RecordedChoices {
  std::string suite;
  bool with_known = false;  ///< true: rows that are known not to be met count, too
  int jobs = 0, ways = 0, fastest = 0;
  double loss = 0, blind_loss = 0, largest_loss = 0;
  std::vector<int> pairs, in_order;  ///< by how far apart they were measured
};

/// How a suite's errors change with each doubling of the number of GPUs (sim/validation/growth.hpp).
struct RecordedGrowth {
  std::string suite;
  int rows = 0, jobs = 0, sizes = 0;
  double slope = 0, uncertainty = 0;
  bool as_split = true;
};

struct ErrorRecord {
  std::vector<RecordedErrors> groups;
  std::vector<RecordedChoices> choices;  ///< choices of suites that have any
  std::vector<RecordedGrowth> growth;    ///< slopes of suites that have three numbers of GPUs
};

}  // namespace stepsim
