// Overlap efficiency: how much of the communication that could hide behind compute does hide.
#pragma once

#include <algorithm>

namespace stepsim {

/// hidden / min(compute, communication), from 0 to 1; 0 when there is nothing to overlap.
///
/// No more than the shorter of the two can be hidden. Example: 15 ms of compute and 20 ms of
/// communication in a step of 24 ms hide 15 + 20 - 24 = 11 ms of the 15 ms that could be: 73.3 %.
constexpr double overlap_efficiency(double compute, double communication, double hidden) {
  const double most = std::min(compute, communication);
  return most > 0 ? hidden / most : 0;
}

}  // namespace stepsim
