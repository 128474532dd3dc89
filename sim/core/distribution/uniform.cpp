// The uniform distribution: anything within sqrt(3) standard deviations of the mean.
#include <numbers>

#include "sim/core/distribution.hpp"
#include "sim/core/registry.hpp"

namespace stepsim {
namespace {

/// An interval of width w has the variance w^2 / 12.
Quantile uniform_quantile(const Spread& spread) {
  const double half = std::numbers::sqrt3 * spread.mean * spread.sigma;
  return [=, mean = spread.mean](double share) { return mean + half * (2 * share - 1); };
}

const Registered<Distribution> uniform{{
    .name = "uniform",
    .description = "anything within sqrt(3) sigma of the mean",
    .most_sigma = 1 / std::numbers::sqrt3,
    .quantile = uniform_quantile,
}};

}  // namespace
}  // namespace stepsim
