// The empirical distribution: measured values are drawn again, each as likely as the others.
#include <algorithm>
#include <numeric>

#include "sim/core/distribution.hpp"
#include "sim/core/registry.hpp"

namespace stepsim {
namespace {

/// The values may have any unit, for they are scaled to the mean.
Quantile empirical_quantile(const Spread& spread) {
  std::vector<double> values = spread.values;
  std::ranges::sort(values);
  const double count = static_cast<double>(values.size());
  const double scale = spread.mean * count / std::accumulate(values.begin(), values.end(), 0.0);
  for (double& value : values) value *= scale;
  return [values, count](double share) { return values[static_cast<std::size_t>(share * count)]; };
}

const Registered<Distribution> empirical{{
    .name = "empirical",
    .description = "one of `values`, each as likely, scaled to the mean",
    .takes_sigma = false,
    .quantile = empirical_quantile,
}};

}  // namespace
}  // namespace stepsim
