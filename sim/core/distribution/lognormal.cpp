// The lognormal distribution: the product of many small factors, skewed right and never negative.
#include <cmath>

#include <boost/math/distributions/lognormal.hpp>

#include "sim/core/distribution.hpp"
#include "sim/core/distribution/in_double.hpp"
#include "sim/core/registry.hpp"

namespace stepsim {
namespace {

/// With a logarithm of mean m and deviation s, the mean is exp(m + s^2 / 2), and the variance over
/// the square of the mean is exp(s^2) - 1.
Quantile lognormal_quantile(const Spread& spread) {
  const double s2 = std::log1p(spread.sigma * spread.sigma);
  const boost::math::lognormal_distribution<double, InDouble> draws(std::log(spread.mean) - s2 / 2,
                                                                    std::sqrt(s2));
  return [draws](double share) { return boost::math::quantile(draws, share); };
}

const Registered<Distribution> lognormal{{
    .name = "lognormal",
    .description = "the product of many small factors; a longer tail above than below",
    .quantile = lognormal_quantile,
}};

}  // namespace
}  // namespace stepsim
