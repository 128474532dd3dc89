// The error to expect of a prediction: that of measured runs like it.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/core/quantity.hpp"
#include "sim/scenario/suite/run_record.hpp"

namespace stepsim {

/// Rows that are known not to be met are in no number but their own.
struct ExpectedError {
  std::vector<std::string> traits;  ///< that these runs have in common with the one at hand
  int rows = 0;
  /// Of absolute values, and with signs. Each suite counts the same, however many rows it has, so
  /// that median and 90th percentile are those of weighted values (expected_error.cpp), not
  /// interpolated ones as in Errors.
  double median = 0, p90 = 0, bias = 0;
  int known = 0;  ///< rows of these kinds that are left out
  /// 10th and 90th percentile of predicted over measured; absent: too few runs.
  std::optional<std::pair<double, double>> band;
  std::vector<std::string> suites;  ///< in alphabetical order
  std::string worst_suite;          ///< by its mean error among these runs
  double worst_mean = 0;

  /// Between which times the step is in 80 % of runs like these. REQUIRES: a band.
  std::pair<Seconds, Seconds> times(Seconds predicted) const {
    return {predicted / band->second, predicted / band->first};
  }
};

/// So many runs say something, from so many suites, for the runs of one share what it leaves unsaid
/// (docs/validation.md has what that is good for).
inline constexpr int kEnoughRuns = 20;
inline constexpr std::size_t kEnoughSuites = 3;
/// A tenth of fewer runs is not one run.
inline constexpr int kEnoughForBand = 10;

/// Of the runs that are most like it: those that share all traits with it, then ever fewer, until
/// there are enough; else of the kind that has most of them. Without any, `rows` is 0.
ExpectedError expected_error(const RunTraits& traits, const std::vector<RecordedRuns>& runs);

}  // namespace stepsim
