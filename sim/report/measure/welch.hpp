// Whether two samples of steps differ by more than chance, and how much they would have to.
#pragma once

#include <optional>
#include <vector>

#include "sim/core/quantity.hpp"

namespace stepsim {

/// Differences that chance alone brings about less often than this are called significant.
inline constexpr double kSignificance = 0.05;
/// How often a test should show a difference that is there.
inline constexpr double kPower = 0.8;

/// Two samples, the second less the first.
struct Welch {
  int first = 0, second = 0;  ///< values of each
  Seconds difference;         ///< of the means
  Seconds error;              ///< standard error of that
  double degrees = 0;         ///< of freedom
  double p = 1;               ///< of a difference like this or larger, either way, by chance
  /// The smallest difference that a test of such samples shows kPower of the time.
  Seconds visible;

  bool is_significant() const { return p < kSignificance; }
};

/// Welch's t-test, two-sided, with the degrees of freedom of Welch 1947 (Biometrika 34:28) and
/// Satterthwaite 1946. A sample of one value is taken as one more draw with the deviation of the
/// other, which is Student's test with equal variances. Nothing where both have one value or one
/// has none.
std::optional<Welch> welch(const std::vector<Seconds>& first, const std::vector<Seconds>& second);

}  // namespace stepsim
