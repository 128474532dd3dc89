// The gamma distribution: the wait for several independent things, between exponential and normal.
#include <boost/math/distributions/gamma.hpp>

#include "sim/core/distribution.hpp"
#include "sim/core/distribution/in_double.hpp"
#include "sim/core/registry.hpp"

namespace stepsim {
namespace {

/// A gamma distribution has the mean shape x scale and the variance shape x scale^2.
Quantile gamma_quantile(const Spread& spread) {
  const double shape = 1 / (spread.sigma * spread.sigma);
  const boost::math::gamma_distribution<double, InDouble> draws(shape, spread.mean / shape);
  return [draws](double share) { return boost::math::quantile(draws, share); };
}

const Registered<Distribution> gamma{{
    .name = "gamma",
    .description = "the wait for several things; nearly normal when sigma is small",
    .quantile = gamma_quantile,
}};

}  // namespace
}  // namespace stepsim
