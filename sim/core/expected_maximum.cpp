// The mean of the largest of n normal draws, as an integral.
#include "sim/core/expected_maximum.hpp"

#include <cmath>

#include <boost/math/distributions/normal.hpp>
#include <boost/math/quadrature/gauss_kronrod.hpp>

#include "sim/core/distribution/in_double.hpp"

namespace stepsim {

double expected_maximum_of_normals(int n) {
  if (n <= 1) return 0;
  const boost::math::normal_distribution<double, InDouble> normal;
  const auto share = [&](double x) {
    return x * n * boost::math::pdf(normal, x) * std::pow(boost::math::cdf(normal, x), n - 1);
  };
  constexpr double kReach = 12;  // beyond it a normal variable has no weight in double precision
  constexpr unsigned kHalvings = 15;
  constexpr double kTolerance = 1e-10;
  return boost::math::quadrature::gauss_kronrod<double, 31>::integrate(share, -kReach, kReach,
                                                                       kHalvings, kTolerance);
}

}  // namespace stepsim
