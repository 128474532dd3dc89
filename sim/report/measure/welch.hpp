// Whether two samples of steps differ by more than chance, and how much they would have to.
#pragma once

#include <optional>
#include <vector>

#include "sim/core/quantity.hpp"

namespace stepsim {

/// A difference is significant where chance alone brings one like it about less often than this.
inline constexpr double kSignificance = 0.05;
/// How often a test should show a difference that is there.
inline constexpr double kPower = 0.8;

/// The test of two samples; differences are the second less the first.
struct Welch {
  int first = 0, second = 0;  ///< number of values of each sample
  Seconds difference;         ///< difference of the means
  Seconds error;              ///< standard error of the difference
  double degrees = 0;         ///< degrees of freedom
  /// probability that chance alone brings about a difference at least as large, either way
  double p = 1;
  /// The smallest difference that a test of such samples shows kPower of the time.
  Seconds visible;

  bool is_significant() const { return p < kSignificance; }
};

/// Welch's t-test, two-sided, with the degrees of freedom of Welch 1947 (Biometrika 34:28) and
/// Satterthwaite 1946. A sample of one value counts as one more draw with the deviation of the
/// other sample, which is Student's test with equal variances. Absent where both samples have one
/// value, or one has none.
std::optional<Welch> welch(const std::vector<Seconds>& first, const std::vector<Seconds>& second);

}  // namespace stepsim
