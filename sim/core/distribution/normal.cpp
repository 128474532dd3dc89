// The normal distribution, cut off at zero and at twice its mean, which leaves the mean in place.
#include <boost/math/distributions/normal.hpp>

#include "sim/core/distribution.hpp"
#include "sim/core/distribution/in_double.hpp"
#include "sim/core/registry.hpp"

namespace stepsim {
namespace {

Quantile normal_quantile(const Spread& spread) {
  const boost::math::normal_distribution<double, InDouble> whole(spread.mean,
                                                                 spread.mean * spread.sigma);
  const double below = cdf(whole, 0.0);
  return
      [=](double share) { return boost::math::quantile(whole, below + share * (1 - 2 * below)); };
}

const Registered<Distribution> normal{{
    .name = "normal",
    .description = "cut off at 0 and at twice the mean; sigma is that of the whole bell",
    .most_sigma = 1,
    .quantile = normal_quantile,
}};

}  // namespace
}  // namespace stepsim
