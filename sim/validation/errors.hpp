// Statistics of errors: mean, quantiles and bias.
#pragma once

#include <vector>

namespace stepsim {

/// Statistics of a list of errors; 0 throughout where it is empty.
struct Errors {
  int count = 0;
  double mean = 0, median = 0, p90 = 0, max = 0;  ///< statistics of the absolute values
  double bias = 0;                                ///< mean of the errors with their signs
};
Errors errors_of(const std::vector<double>& errors);

}  // namespace stepsim
