// How far predictions are from measurements: errors of rows, of groups of them, of suites.
//
// An error is predicted / measured - 1, so that it is positive where a prediction is too slow.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/core/quantity.hpp"
#include "sim/scenario/suite/run_record.hpp"
#include "sim/timeline/timeline.hpp"
#include "sim/validation/choices.hpp"
#include "sim/validation/errors.hpp"

namespace stepsim {

/// What a simulation says about a run.
struct Prediction {
  Seconds step;
  CauseSeconds breakdown{};  ///< of the slowest stage; sums to `step`
  double memory_share = 0;   ///< peak over capacity
};

/// A measured run and what became of it.
struct ValidationRow {
  std::string suite;
  std::string label;
  std::string file;  ///< where it stands
  int line = 0;
  std::optional<Seconds> measured;  ///< absent: not readable, and then nothing is predicted
  std::optional<Prediction> predicted;
  std::string reason;  ///< why there is no prediction
  std::string known;   ///< why it is not expected to be met; empty: it is
  std::vector<std::pair<std::string, std::string>> groups;  ///< name and value
  RunTraits traits;                                         ///< where there is a prediction
  std::string job;                                          ///< of sim/scenario/job.hpp, likewise

  /// It ran, so that it fitted: where it is predicted not to, the prediction of its memory is
  /// wrong.
  bool is_refused_by_memory() const { return predicted && predicted->memory_share > 1; }
  /// REQUIRES: a prediction.
  double error() const { return predicted->step / *measured - 1; }
};

/// Rows that share a value: "gpu" and "a100-80".
struct GroupScore {
  std::string name, value;
  Errors all, expected;  ///< `expected`: without rows that are known not to be met
};

/// A limit, and whether it was kept.
struct SuiteLimit {
  std::string name;  ///< "median"
  double limit = 0, actual = 0;
  bool holds() const { return actual <= limit; }
};

struct Score {
  Errors all, expected;
  Choices choices, expected_choices;     ///< as `all` and `expected`
  std::vector<GroupScore> groups;        ///< by name as suites have them, by value in its order
  std::vector<std::size_t> worst;        ///< rows by their absolute error, the largest first
  std::vector<std::size_t> unpredicted;  ///< rows without a prediction
  std::vector<std::size_t> not_fitting;  ///< rows that are predicted not to fit in memory
};

/// The score of those rows, and at most `worst` of the worst.
Score score_of(const std::vector<ValidationRow>& rows, std::size_t worst = 10);

/// What stands out in a row's breakdown beside those of the others: "pipeline bubble 21 % of the
/// step (median row 3 %)"; else its largest part. REQUIRES: a prediction.
std::string likely_cause(const ValidationRow& row, const std::vector<ValidationRow>& others);

}  // namespace stepsim
