// A sample of step times in a few numbers.
#pragma once

#include <vector>

#include "sim/core/quantity.hpp"

namespace stepsim {

struct Statistics {
  int count = 0;
  Seconds mean, median, p95, least, most;
  Seconds sigma;       ///< standard deviation of the population, estimated (n - 1)
  Seconds confidence;  ///< the true mean is within mean +- this with 95 % probability: Student's t
                       ///< with n - 1 degrees of freedom; NaN for a single value
};

/// REQUIRES: at least one value. Quantiles are interpolated between order statistics (definition 7
/// of Hyndman and Fan 1996, which NumPy and R use).
Statistics statistics_of(const std::vector<Seconds>& values);

/// The index of the value in the middle; of two, that of the smaller.
int index_of_median(const std::vector<Seconds>& values);

}  // namespace stepsim
