// Quantiles of samples.
#include "sim/measurement/timing.hpp"

#include <algorithm>
#include <cmath>

namespace stepsim::calib {

double quantile(std::vector<double> values, double share) {
  std::sort(values.begin(), values.end());
  const double place = share * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::size_t>(std::floor(place));
  const std::size_t above = std::min(below + 1, values.size() - 1);
  return values[below] + (place - std::floor(place)) * (values[above] - values[below]);
}

std::vector<double> slowest(const std::vector<std::vector<double>>& of_devices) {
  std::vector<double> samples = of_devices.front();
  for (const std::vector<double>& device : of_devices)
    for (std::size_t i = 0; i < samples.size(); ++i) samples[i] = std::max(samples[i], device[i]);
  return samples;
}

Timing summarise(const std::vector<double>& samples) {
  return {quantile(samples, 0.5), quantile(samples, 0.1), quantile(samples, 0.9),
          static_cast<int>(samples.size())};
}

}  // namespace stepsim::calib
