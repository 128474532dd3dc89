// The median of times.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "sim/recording/interval_set.hpp"

namespace stepsim {

/// The upper one of the two in the middle, where there are two; 0 without any.
inline Nanoseconds upper_median(std::vector<Nanoseconds> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

/// The mean of the two in the middle, where there are two; 0 without any.
inline Nanoseconds median(std::vector<Nanoseconds> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  if (values.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

}  // namespace stepsim
