// Takes means and quantiles of absolute values.
#include "sim/validation/errors.hpp"

#include <algorithm>
#include <cmath>

#include "sim/core/quantile.hpp"

namespace stepsim {

Errors errors_of(const std::vector<double>& errors) {
  Errors result{.count = static_cast<int>(errors.size())};
  if (errors.empty()) return result;
  std::vector<double> sizes;
  for (const double error : errors) {
    sizes.push_back(std::abs(error));
    result.bias += error / static_cast<double>(errors.size());
    result.mean += std::abs(error) / static_cast<double>(errors.size());
  }
  std::ranges::sort(sizes);
  result.median = interpolated_quantile(sizes, 0.5);
  result.p90 = interpolated_quantile(sizes, 0.9);
  result.max = sizes.back();
  return result;
}

}  // namespace stepsim
