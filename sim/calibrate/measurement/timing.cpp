// Quantiles of samples.
#include "sim/calibrate/measurement/timing.hpp"

#include <algorithm>

#include "sim/core/quantile.hpp"

namespace stepsim {

double quantile(std::vector<double> values, double share) {
  std::ranges::sort(values);
  return interpolated_quantile(values, share);
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

}  // namespace stepsim
