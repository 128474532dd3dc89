// A sample of step times in a few numbers.
#pragma once

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

}  // namespace stepsim
