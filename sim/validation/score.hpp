// How far predictions are from measurements: errors of rows, of groups of rows, of suites.
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
#include "sim/validation/growth.hpp"

namespace stepsim {

/// What a simulation says about a run.
struct Prediction {
  Seconds step;
  CauseSeconds breakdown{};  ///< time of a step on the slowest stage, by cause; sums to `step`
  double memory_share = 0;   ///< peak memory over capacity
};

/// A measured run and what became of it.
struct ValidationRow {
  std::string suite;
  std::string label;
  std::string file;  ///< file that has the row
  int line = 0;
  std::optional<Seconds> measured;  ///< absent: the row cannot be read, and nothing is predicted
  std::optional<Prediction> predicted;
  std::string reason;  ///< why there is no prediction; empty: there is one
  std::string known;   ///< why the row is not expected to be met; empty: it is
  std::vector<std::pair<std::string, std::string>> groups;  ///< pairs of name and value
  RunTraits traits;                                         ///< set where there is a prediction
  /// Fingerprints (sim/scenario/job_fingerprint.hpp), set where there is a prediction: of the job, of
  /// the scenario without its size, and of the job without its size.
  std::string job, sizeless, sizeless_job;
  std::string publisher;  ///< of the suite
  /// What would be predicted without what the publisher measured of its own machines; absent: the
  /// same.
  std::optional<Seconds> unseen;

  /// Whether the prediction says that the run does not fit in memory. The run was measured, so that
  /// it did fit: the prediction of its memory is wrong.
  bool is_refused_by_memory() const { return predicted && predicted->memory_share > 1; }
  /// The relative error of the prediction. REQUIRES: a prediction.
  double error() const { return predicted->step / *measured - 1; }
  /// As error(), of `unseen`.
  double unseen_error() const { return unseen.value_or(predicted->step) / *measured - 1; }
  /// The software that it ran, where the suite has a group of that name; else empty.
  std::string software() const;
};

/// The errors of the rows that share a value, such as "a100-80" of "gpu".
struct GroupScore {
  std::string name, value;
  Errors all, expected;  ///< `expected`: without rows that are known not to be met
};

/// A limit of a suite, and whether it was kept.
struct SuiteLimit {
  std::string name;  ///< name of the limit: "median"
  double limit = 0, actual = 0;
  bool holds() const { return actual <= limit; }
};

struct Score {
  Errors all, expected;
  Errors unseen;  ///< as `expected`, without what publishers measured of their own machines
  bool has_unseen = false;       ///< whether any row is predicted otherwise then
  std::optional<Growth> growth;  ///< of the errors with the number of GPUs
  /// choices over the rows of `all`, and over those of `expected`
  Choices choices, expected_choices;
  std::vector<GroupScore> groups;  ///< in the suite's order of names and, for each name, of values
  std::vector<std::size_t> worst;  ///< rows by their absolute error, the largest first
  std::vector<std::size_t> unpredicted;  ///< rows without a prediction
  std::vector<std::size_t> not_fitting;  ///< rows that are predicted not to fit in memory
};

/// The score of the rows; it names at most `worst` of the worst.
Score score_of(const std::vector<ValidationRow>& rows, std::size_t worst = 10);

/// The part of a row's breakdown that stands out beside the other rows: "pipeline bubble 21 % of
/// the step (median row 3 %)"; its largest part where none does. REQUIRES: a prediction.
std::string likely_cause(const ValidationRow& row, const std::vector<ValidationRow>& others);

}  // namespace stepsim
