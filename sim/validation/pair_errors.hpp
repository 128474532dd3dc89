// How far off the difference of two predictions is: that of two measured runs of one source.
//
// What a model gets wrong about one run it mostly gets wrong about runs like it, so that errors of
// differences do not follow from errors of runs. They are taken from pairs: where both were
// predicted and measured, predicted over measured ratio.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/scenario/suite/run_record.hpp"

namespace stepsim {

/// Which measured runs are like one at hand: those of these suites that have all of these traits.
struct RunKind {
  std::vector<std::string> traits, suites;
};

struct PairErrors {
  int pairs = 0;
  int suites = 0;     ///< each counts the same, however many pairs it has
  double median = 0;  ///< of the ratio's error, its absolute value
  /// Predicted over measured ratio of two steps, and the pair's weight; ascending.
  std::vector<std::pair<double, double>> ratios;

  /// The share of pairs whose steps would be in the predicted order, were their ratio predicted as
  /// this.
  double in_order(double predicted_ratio) const;
};

/// Of pairs of a run of the one kind with another run, of the other kind, of the same suite. Rows
/// that are known not to be met are in none. Nothing where there are too few, as for an expected
/// error.
std::optional<PairErrors> pair_errors(const RunKind& first, const RunKind& second,
                                      const std::vector<RecordedRuns>& runs);

}  // namespace stepsim
