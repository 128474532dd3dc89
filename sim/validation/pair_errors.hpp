// How far off the difference of two predictions is, by pairs of measured runs of one source.
//
// What a model gets wrong about one run it mostly gets wrong about runs like it, so that errors of
// differences do not follow from errors of runs. They come from pairs of runs that were both
// predicted and measured: the predicted ratio of the two steps over the measured one.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/scenario/suite/run_record.hpp"

namespace stepsim {

/// Which measured runs are like one at hand: the runs of these suites that have all of these
/// traits.
struct RunKind {
  std::vector<std::string> traits, suites;
};

struct PairErrors {
  int pairs = 0;
  int suites = 0;     ///< suites with pairs; all have the same weight, however many pairs they have
  double median = 0;  ///< median absolute error of the ratio
  /// The predicted ratio of two steps over the measured one, and the weight of the pair; ascending.
  std::vector<std::pair<double, double>> ratios;

  /// The share of pairs whose steps would be in the predicted order if the predicted ratio of each
  /// were `predicted_ratio`.
  double in_order(double predicted_ratio) const;
};

/// The errors of all pairs of one suite's runs, one run of the kind `first` and another of the kind
/// `second`. Rows that are known not to be met are in no pair. Absent where there are too few
/// pairs, runs and suites, by the bounds of an expected error.
std::optional<PairErrors> pair_errors(const RunKind& first, const RunKind& second,
                                      const std::vector<RecordedRuns>& runs);

}  // namespace stepsim
