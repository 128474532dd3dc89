// Quantiles of a sample.
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
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

/// Values with their weights.
using Weighted = std::vector<std::pair<double, double>>;

/// The least value that has at least `share` of the weight together with all values below it. It is
/// one of the values, as definition 1 of Hyndman and Fan 1996 where all weights are equal: how to go
/// between two values that weigh differently is not settled. REQUIRES: not empty.
inline double weighted_quantile(Weighted values, double share) {
  constexpr double kRounding = 1e-12;  // sums of thirds and sevenths miss the share by less
  std::ranges::sort(values);
  double all = 0, below = 0;
  for (const auto& [value, weight] : values) all += weight;
  for (const auto& [value, weight] : values) {
    below += weight;
    if (below >= share * all * (1 - kRounding)) return value;
  }
  return values.back().first;
}

}  // namespace stepsim
