// The error to expect of a prediction: the errors of measured runs that are like it.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/core/quantity.hpp"
#include "sim/scenario/suite/run_record.hpp"
#include "sim/validation/error_band.hpp"

namespace stepsim {

/// The errors of the runs of a kind. Rows that are known not to be met are counted in `known`
/// alone.
struct ExpectedError {
  std::vector<std::string> traits;  ///< traits that these runs share with the one at hand
  int rows = 0;
  /// Statistics of absolute errors, and the mean with signs. Every suite has the same weight,
  /// however many rows it has, so that median and 90th percentile are weighted ones
  /// (expected_error.cpp), not interpolated ones as in Errors.
  double median = 0, p90 = 0, bias = 0;
  int known = 0;  ///< rows of this kind that are left out, because they are known not to be met
  /// Range of predicted over measured time (error_band.hpp); absent where nothing tells of one.
  std::optional<ErrorBand> band;
  std::vector<std::string> suites;  ///< in alphabetical order
  std::string worst_suite;          ///< the suite with the largest mean error among these runs
  double worst_mean = 0;

  /// The times between which the step lies in 80 of 100 cases. REQUIRES: a band.
  std::pair<Seconds, Seconds> times(Seconds predicted) const {
    return {predicted / band->most, predicted / band->least};
  }
};

/// The number of runs, and of suites, from which the errors of a kind say something. Several suites
/// are needed, because the runs of one share what their source leaves unsaid (docs/validation.md
/// says how good such errors are).
inline constexpr int kEnoughRuns = 20;
inline constexpr std::size_t kEnoughSuites = 3;
/// The errors of the runs that are most like the one at hand: those that share all its traits, then
/// ever fewer, until there are enough runs; where there never are, of the kind that has most.
/// `rows` is 0 where there are no runs at all.
ExpectedError expected_error(const RunTraits& traits, const std::vector<RecordedRuns>& runs);

}  // namespace stepsim
