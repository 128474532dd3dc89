// Statistics of errors.
#pragma once

#include <vector>

namespace stepsim {

/// Statistics of some errors; 0 throughout where there are none.
struct Errors {
  int count = 0;
  double mean = 0, median = 0, p90 = 0, max = 0;  ///< of absolute values
  double bias = 0;                                ///< mean with signs
};
Errors errors_of(const std::vector<double>& errors);

}  // namespace stepsim
