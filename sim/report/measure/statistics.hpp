// A sample of step times in a few numbers.
#pragma once

#include <optional>
#include <vector>

#include "sim/core/quantity.hpp"

namespace stepsim {

struct Statistics {
  int count = 0;
  Seconds mean, median, p95, least, most;
  Seconds sigma;  ///< estimated standard deviation of the population (n - 1)
  /// half width of the interval that has the true mean with 95 % probability: Student's t with n -
  /// 1 degrees of freedom; NaN for a single value
  Seconds confidence;
};

/// The statistics of a sample. Quantiles are interpolated between order statistics (definition 7 of
/// Hyndman and Fan 1996, which NumPy and R use). REQUIRES: at least one value.
Statistics statistics_of(const std::vector<Seconds>& values);

/// The index of the value in the middle; where two are, of the smaller one.
int index_of_median(const std::vector<Seconds>& values);

/// Differences that chance alone brings about less often than this are called significant.
inline constexpr double kSignificance = 0.05;
/// How often a test should show a difference that is there.
inline constexpr double kPower = 0.8;

/// Two samples, the second less the first.
struct Welch {
  int first = 0, second = 0;  ///< values of each
  Seconds difference;         ///< difference of the means
  Seconds error;              ///< standard error of that
  double degrees = 0;         ///< degrees of freedom
  /// probability that chance alone brings about a difference at least as large, either way
  double p = 1;
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
