// Mean, order statistics, Student's t, and Welch's test of two samples.
#include "sim/report/measure/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include <boost/math/distributions/students_t.hpp>

#include "sim/core/distribution/in_double.hpp"
#include "sim/core/quantile.hpp"

namespace stepsim {
namespace {

constexpr double kConfidence = 0.95;

using StudentsT = boost::math::students_t_distribution<double, InDouble>;

/// The variance of a mean: that of its sample over the number of values.
struct MeanVariance {
  double variance = 0;
  double degrees = 0;
};

MeanVariance mean_variance(const Statistics& sample) {
  return {std::pow(sample.sigma.seconds(), 2) / sample.count, sample.count - 1.0};
}

/// Variance and degrees of freedom of the difference of two means.
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

Statistics statistics_of(const std::vector<Seconds>& values) {
  std::vector<Seconds> sorted = values;
  std::ranges::sort(sorted);
  const auto n = static_cast<double>(sorted.size());
  Statistics s{.count = static_cast<int>(sorted.size())};
  s.mean = std::accumulate(sorted.begin(), sorted.end(), Seconds{0}) / n;
  s.median = interpolated_quantile(sorted, 0.5);
  s.p95 = interpolated_quantile(sorted, 0.95);
  s.least = sorted.front();
  s.most = sorted.back();
  double squares = 0;
  for (const Seconds value : sorted) squares += std::pow((value - s.mean).seconds(), 2);
  if (s.count < 2) {
    s.sigma = s.confidence = Seconds{std::numeric_limits<double>::quiet_NaN()};
    return s;
  }
  s.sigma = Seconds{std::sqrt(squares / (n - 1))};
  const boost::math::students_t_distribution<> t(n - 1);
  s.confidence = s.sigma * (boost::math::quantile(t, (1 + kConfidence) / 2) / std::sqrt(n));
  return s;
}

int index_of_median(const std::vector<Seconds>& values) {
  std::vector<int> order(values.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, [&](int a, int b) {
    return values[static_cast<std::size_t>(a)] < values[static_cast<std::size_t>(b)];
  });
  return order[(order.size() - 1) / 2];
}

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
  // Bloom 1995, "Minimum detectable effects", Evaluation Review 19:547.
  test.visible = test.error * (boost::math::quantile(t, 1 - kSignificance / 2) +
                               boost::math::quantile(t, kPower));
  return test;
}

}  // namespace stepsim
