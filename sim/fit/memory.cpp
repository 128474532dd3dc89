// Rates and the latency of memory-bound kernels.
#include "sim/fit/memory.hpp"

#include <algorithm>
#include <cmath>

#include "sim/core/error.hpp"
#include "sim/fit/minimise.hpp"

namespace stepsim::fit {
namespace {

const MemoryBound& kernel_of(const TimedWork& sample) { return std::get<MemoryBound>(sample.work); }

/// The rate of each class on its largest kernels: those from half of its largest size on.
std::map<MemoryRate, BytesPerSecond> plateaus(const Samples& samples) {
  std::map<MemoryRate, Bytes> largest;
  for (const TimedWork& sample : samples) {
    Bytes& size = largest[kernel_of(sample).rate];
    size = std::max(size, kernel_of(sample).bytes);
  }
  std::map<MemoryRate, std::vector<double>> rates;
  for (const TimedWork& sample : samples) {
    const MemoryBound& kernel = kernel_of(sample);
    if (kernel.bytes * 2 >= largest[kernel.rate])
      rates[kernel.rate].push_back((kernel.bytes / sample.seconds).bytes_per_second());
  }
  std::map<MemoryRate, BytesPerSecond> medians;
  for (auto& [rate, values] : rates) {
    std::sort(values.begin(), values.end());
    medians[rate] = BytesPerSecond{values[values.size() / 2]};
  }
  return medians;
}

/// Whether some kernels take more than twice what their bytes alone would: else any latency fits.
bool shows_latency(const Samples& samples, const std::map<MemoryRate, BytesPerSecond>& rates) {
  const auto short_ones = std::count_if(samples.begin(), samples.end(), [&](const auto& sample) {
    return sample.seconds > kernel_of(sample).bytes / rates.at(kernel_of(sample).rate) * 2;
  });
  return short_ones >= 3;
}

double mean_log_error(const Samples& samples, const MemoryConstants& constants) {
  double sum = 0;
  for (const TimedWork& sample : samples) {
    const MemoryBound& kernel = kernel_of(sample);
    const Seconds moving = kernel.bytes / constants.rates.at(kernel.rate);
    const double modelled = std::hypot(constants.latency.seconds(), moving.seconds());
    sum += std::abs(std::log(modelled / sample.seconds.seconds()));
  }
  return sum / static_cast<double>(samples.size());
}

}  // namespace

BytesPerSecond& rate_in(MemoryProfile& profile, MemoryRate rate) {
  switch (rate) {
    case MemoryRate::elementwise:
      return profile.elementwise;
    case MemoryRate::norm:
      return profile.norm;
    case MemoryRate::softmax:
      return profile.softmax;
    case MemoryRate::dropout:
      return profile.dropout;
    case MemoryRate::loss:
      return profile.loss;
    case MemoryRate::optimizer:
      return profile.optimizer;
    case MemoryRate::permute:
      return profile.permute;
  }
  throw InternalError("a memory-bound kernel without a rate");
}

MemoryConstants fit_memory(const Samples& samples, Seconds latency) {
  MemoryConstants start{.latency = latency, .rates = plateaus(samples)};
  const bool with_latency = start.latency_shown = shows_latency(samples, start.rates);
  // Logarithms: of the latency and of each rate over its start.
  std::vector<Parameter> parameters;
  if (with_latency) parameters.push_back({0, -2, 2});
  for (std::size_t i = 0; i < start.rates.size(); ++i) parameters.push_back({0, -1, 1});
  const auto constants_of = [&](const std::vector<double>& values) {
    MemoryConstants constants = start;
    std::size_t i = 0;
    if (with_latency) constants.latency = latency * std::exp(values[i++]);
    for (auto& [rate, value] : constants.rates) value *= std::exp(values[i++]);
    return constants;
  };
  MemoryConstants fitted = constants_of(minimise(
      [&](const std::vector<double>& values) {
        return mean_log_error(samples, constants_of(values));
      },
      parameters));
  fitted.latency = rounded(fitted.latency, 1e-6);
  for (auto& [rate, value] : fitted.rates) value = rounded(value, 1e9);
  return fitted;
}

MemoryProfile with_constants(MemoryProfile base, const MemoryConstants& constants) {
  base.latency = constants.latency;
  for (const auto& [rate, value] : constants.rates) rate_in(base, rate) = value;
  return base;
}

}  // namespace stepsim::fit
