// Quantiles of a sample.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace stepsim {

/// The quantile `share`, in [0, 1], by linear interpolation between order statistics (definition 7
/// of Hyndman and Fan 1996, which NumPy and R use). REQUIRES: sorted, not empty.
template <class T>
T interpolated_quantile(const std::vector<T>& sorted, double share) {
  const double place = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (sorted[above] - sorted[below]) * (place - static_cast<double>(below));
}

}  // namespace stepsim
