// Errors of a model over samples, and which samples are kept from a fit.
#include "sim/calibrate/fit/sample.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include <fmt/format.h>

#include "sim/core/random.hpp"

namespace stepsim::fit {
namespace {

double mean_of(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return values.empty() ? 0 : sum / static_cast<double>(values.size());
}

/// The value that a share of the sorted values is below.
double quantile_of(const std::vector<double>& sorted, double share) {
  if (sorted.empty()) return 0;
  const auto place = static_cast<std::size_t>(share * static_cast<double>(sorted.size()));
  return sorted[std::min(place, sorted.size() - 1)];
}

}  // namespace

Errors errors_of(const Model& model, const Samples& samples) {
  return errors_of_times([&](const TimedWork& sample) { return model(sample.work); }, samples);
}

Errors errors_of_times(const std::function<Seconds(const TimedWork&)>& model,
                       const Samples& samples) {
  std::vector<double> all, large;
  double paces = 0;
  for (const TimedWork& sample : samples) {
    const double share = model(sample) / sample.seconds;
    const double error = std::abs(share - 1);
    paces -= std::log(share);
    all.push_back(error);
    if (sample.large) large.push_back(error);
  }
  std::ranges::sort(all);
  return {static_cast<int>(all.size()),
          mean_of(all),
          quantile_of(all, 0.5),
          quantile_of(all, 0.9),
          static_cast<int>(large.size()),
          mean_of(large),
          all.empty() ? 1 : std::exp(paces / static_cast<double>(all.size()))};
}

bool is_held_out(std::uint64_t seed, std::size_t index) {
  // Each two neighbours are parted, so that both halves cover the same range.
  const bool second = RandomKey(seed).with(index / 2).uniform() < 0.5;
  return (index % 2 == 1) == second;
}

double rounded(double value) {
  // By way of the text, so that the number is the one that the text reads back as.
  return std::strtod(fmt::format("{:.4g}", value).c_str(), nullptr);
}

}  // namespace stepsim::fit
