// Computes means, order statistics and Student's t.
#include "sim/report/measure/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include <boost/math/distributions/students_t.hpp>

#include "sim/core/quantile.hpp"

namespace stepsim {
namespace {

constexpr double kConfidence = 0.95;

}  // namespace

Statistics statistics_of(const std::vector<Seconds>& values) {
  std::vector<Seconds> sorted = values;
  std::sort(sorted.begin(), sorted.end());
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
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
    return values[static_cast<std::size_t>(a)] < values[static_cast<std::size_t>(b)];
  });
  return order[(order.size() - 1) / 2];
}

}  // namespace stepsim
