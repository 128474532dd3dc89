// Welch's test against published numbers, its limits, and the power that it promises.
#include <cmath>

#include <doctest/doctest.h>

#include "sim/core/random.hpp"
#include "sim/report/measure/statistics.hpp"

using namespace stepsim;

namespace {

std::vector<Seconds> seconds(const std::vector<double>& values) {
  std::vector<Seconds> result;
  for (const double value : values) result.emplace_back(value);
  return result;
}

/// Nearly normal: twelve uniform numbers less their mean.
double normal(const RandomKey& key) {
  double sum = -6;
  for (std::uint64_t k = 0; k < 12; ++k) sum += key.with(k).uniform();
  return sum;
}

std::vector<Seconds> draws(const RandomKey& key, std::uint64_t count, double mean, double sigma) {
  std::vector<Seconds> values;
  for (std::uint64_t i = 0; i < count; ++i) values.emplace_back(mean + sigma * normal(key.with(i)));
  return values;
}

}  // namespace

TEST_CASE("the two soporific drugs differ as R's documentation of t.test says") {
  // Student 1908 (Biometrika 6:20), R's data set `sleep`; t.test(extra ~ group): t = -1.8608,
  // df = 17.776, p-value = 0.07939, means 0.75 and 2.33.
  const auto first = seconds({0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0});
  const auto second = seconds({1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4});
  const auto test = welch(first, second);
  REQUIRE(test);
  CHECK(test->first == 10);
  CHECK(test->second == 10);
  CHECK(test->difference.seconds() == doctest::Approx(1.58));
  CHECK(test->difference / test->error == doctest::Approx(1.8608).epsilon(1e-5));
  CHECK(test->degrees == doctest::Approx(17.776).epsilon(5e-5));
  CHECK(test->p == doctest::Approx(0.07939).epsilon(1e-4));
  CHECK_FALSE(test->is_significant());
  const auto turned = welch(second, first);
  CHECK(turned->difference == -test->difference);
  CHECK(turned->p == doctest::Approx(test->p));
}

TEST_CASE("one value is compared with several as one more draw") {
  // Mean 3 and variance 2.5 of five; t = (7 - 3) / sqrt(2.5 (1 + 1/5)), four degrees of freedom.
  const auto test = welch(seconds({1, 2, 3, 4, 5}), seconds({7}));
  REQUIRE(test);
  CHECK(test->degrees == doctest::Approx(4));
  CHECK(test->error.seconds() == doctest::Approx(std::sqrt(3.0)));
  // For four degrees of freedom the distribution has a closed form: with u = t / sqrt(4 + t^2),
  // P(T < t) = 1/2 + 3/4 (u - u^3/3).
  const double t = 4 / std::sqrt(3.0), u = t / std::sqrt(4 + t * t);
  CHECK(test->p == doctest::Approx(1 - 1.5 * (u - u * u * u / 3)).epsilon(1e-9));
  CHECK(welch(seconds({7}), seconds({1, 2, 3, 4, 5}))->p == doctest::Approx(test->p));
}

TEST_CASE("without any deviation a difference is certain, and none is none") {
  const auto differs = welch(seconds({2, 2, 2}), seconds({3, 3}));
  CHECK(differs->p == 0);
  CHECK(differs->is_significant());
  CHECK(differs->visible == Seconds{});
  CHECK(welch(seconds({2, 2}), seconds({2, 2}))->p == 1);
}

TEST_CASE("two single values are no samples") {
  CHECK_FALSE(welch(seconds({1}), seconds({2})));
  CHECK_FALSE(welch({}, seconds({1, 2, 3})));
}

TEST_CASE("of one sample without deviation the test is that of the other's mean") {
  // Student's test of one sample: mean 3, deviation sqrt(2.5), n = 5, against 5.
  const auto test = welch(seconds({5, 5, 5}), seconds({1, 2, 3, 4, 5}));
  CHECK(test->degrees == doctest::Approx(4));
  CHECK(test->error.seconds() == doctest::Approx(std::sqrt(0.5)));
}

TEST_CASE("the visible difference is 2.8 standard errors of large samples") {
  // 1.959964 + 0.841621 in any table of the normal distribution.
  const RandomKey key(3);
  const auto test = welch(draws(key.with(1), 20'000, 0, 1), draws(key.with(2), 20'000, 0, 1));
  CHECK(test->visible / test->error == doctest::Approx(2.801585).epsilon(1e-4));
}

TEST_CASE("the visible difference is seen four times in five, and none one time in twenty") {
  constexpr int kTrials = 4000;
  constexpr std::uint64_t kFirst = 20, kSecond = 12;
  const double sigma_first = 1, sigma_second = 2;
  const RandomKey key(5);
  int seen = 0, mistaken = 0;
  double visible = 0;
  for (int trial = 0; trial < kTrials; ++trial) {
    const RandomKey own = key.with(static_cast<std::uint64_t>(trial));
    const auto first = draws(own.with(1), kFirst, 0, sigma_first);
    const auto second = draws(own.with(2), kSecond, 0, sigma_second);
    const auto test = welch(first, second);
    mistaken += test->is_significant() ? 1 : 0;
    visible += test->visible.seconds() / kTrials;
  }
  for (int trial = 0; trial < kTrials; ++trial) {
    const RandomKey own = key.with(static_cast<std::uint64_t>(kTrials + trial));
    const auto first = draws(own.with(1), kFirst, 0, sigma_first);
    const auto second = draws(own.with(2), kSecond, visible, sigma_second);
    seen += welch(first, second)->is_significant() ? 1 : 0;
  }
  // Five standard errors of shares of 4000; of the power two hundredths more, for Bloom's formula
  // takes the central distribution of t where the shifted one would be exact.
  CHECK(std::abs(mistaken / double{kTrials} - kSignificance) <
        5 * std::sqrt(0.05 * 0.95 / kTrials));
  CHECK(std::abs(seen / double{kTrials} - kPower) < 0.02 + 5 * std::sqrt(0.8 * 0.2 / kTrials));
}
