// What repeated timing of one thing gives: the median, and how far the rest lies from it.
#pragma once

#include <vector>

namespace stepsim {

/// All in seconds of one kernel, copy or collective.
struct Timing {
  double seconds = 0;       ///< median
  double p10 = 0, p90 = 0;  ///< 10th and 90th percentile
  int repeats = 0;
};

/// By linear interpolation between order statistics (Hyndman and Fan 1996, definition 7), `share`
/// in [0, 1]. REQUIRES: values not empty.
double quantile(std::vector<double> values, double share);

/// The longest time of each sample among several devices that do the same. REQUIRES: at least one
/// device, and as many samples of each.
std::vector<double> slowest(const std::vector<std::vector<double>>& of_devices);

/// REQUIRES: samples not empty.
Timing summarise(const std::vector<double>& samples);

}  // namespace stepsim
