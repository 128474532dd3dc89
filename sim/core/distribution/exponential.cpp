// The exponential distribution: a least value and a tail above it, mostly on time, sometimes late.
#include <cmath>

#include "sim/core/distribution.hpp"
#include "sim/core/registry.hpp"

namespace stepsim {
namespace {

/// The mean of the tail is its standard deviation; the least value is what remains of the mean.
Quantile exponential_quantile(const Spread& spread) {
  const double tail = spread.mean * spread.sigma;
  const double least = spread.mean - tail;
  return [=](double share) { return least - tail * std::log1p(-share); };
}

const Registered<Distribution> exponential{{
    .name = "exponential",
    .description = "a least value of mean - sigma, and an exponential tail above it",
    .most_sigma = 1,
    .quantile = exponential_quantile,
}};

}  // namespace
}  // namespace stepsim
