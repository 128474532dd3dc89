// Computes Welch's t-test by Boost.Math's distribution of t.
#include "sim/report/measure/welch.hpp"

#include <cmath>

#include <boost/math/distributions/students_t.hpp>

#include "sim/report/measure/statistics.hpp"

namespace stepsim {
namespace {

using StudentsT = boost::math::students_t_distribution<>;

/// The variance of a mean: that of its sample over the number of values.
struct MeanVariance {
  double variance = 0;
  double degrees = 0;
};

MeanVariance mean_variance(const Statistics& sample) {
  return {std::pow(sample.sigma.seconds(), 2) / sample.count, sample.count - 1.0};
}

/// The variance and the degrees of freedom of the difference of two means.
MeanVariance variance_of_difference(const Statistics& first, const Statistics& second) {
  if (first.count == 1 || second.count == 1) {
    const Statistics& many = first.count == 1 ? second : first;
    const MeanVariance of_many = mean_variance(many);
    return {of_many.variance * (1 + many.count), of_many.degrees};
  }
  const MeanVariance a = mean_variance(first), b = mean_variance(second);
  const double sum = a.variance + b.variance;
  if (sum == 0) return {0, a.degrees + b.degrees};
  const auto share = [&](const MeanVariance& of) {
    return std::pow(of.variance / sum, 2) / of.degrees;
  };
  return {sum, 1 / (share(a) + share(b))};
}

}  // namespace

std::optional<Welch> welch(const std::vector<Seconds>& first, const std::vector<Seconds>& second) {
  if (first.empty() || second.empty() || first.size() + second.size() < 3) return std::nullopt;
  const Statistics a = statistics_of(first), b = statistics_of(second);
  const MeanVariance of = variance_of_difference(a, b);
  Welch test{.first = a.count,
             .second = b.count,
             .difference = b.mean - a.mean,
             .error = Seconds{std::sqrt(of.variance)},
             .degrees = of.degrees};
  if (of.variance == 0) {
    test.p = test.difference == Seconds{} ? 1 : 0;
    return test;
  }
  const StudentsT t(of.degrees);
  const double score = std::abs(test.difference / test.error);
  test.p = 2 * boost::math::cdf(boost::math::complement(t, score));
  // The visible difference by Bloom 1995, "Minimum detectable effects", Evaluation Review 19:547.
  test.visible = test.error * (boost::math::quantile(t, 1 - kSignificance / 2) +
                               boost::math::quantile(t, kPower));
  return test;
}

}  // namespace stepsim
