// Random keys and distributions: uniform, independent, and with the moments that they promise.
#include "sim/core/distribution.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include <boost/math/distributions/normal.hpp>
#include <doctest/doctest.h>

#include "sim/core/random.hpp"
#include "sim/core/registry.hpp"

using namespace stepsim;

namespace {

constexpr int kDraws = 200'000;

struct Moments {
  double mean = 0, sigma = 0, skew = 0;
};

std::vector<double> draws_of(const char* name, const Spread& spread) {
  const Quantile quantile = Registry<Distribution>::find(name)->quantile(spread);
  const RandomKey key(7);
  std::vector<double> draws;
  for (std::uint64_t i = 0; i < kDraws; ++i) draws.push_back(quantile(key.with(i).uniform()));
  return draws;
}

Moments moments_of(const std::vector<double>& draws) {
  const auto count = static_cast<double>(draws.size());
  Moments m;
  for (const double x : draws) m.mean += x / count;
  double second = 0, third = 0;
  for (const double x : draws) {
    second += std::pow(x - m.mean, 2) / count;
    third += std::pow(x - m.mean, 3) / count;
  }
  m.sigma = std::sqrt(second);
  m.skew = third / std::pow(second, 1.5);
  return m;
}

/// Draws against closed forms, within five standard errors of the mean.
void check_moments(const char* name, const Spread& spread, const Moments& expected) {
  CAPTURE(name);
  CAPTURE(spread.sigma);
  const Moments m = moments_of(draws_of(name, spread));
  CHECK(std::abs(m.mean - expected.mean) < 5 * expected.sigma / std::sqrt(kDraws));
  CHECK(m.sigma == doctest::Approx(expected.sigma).epsilon(0.02));
  CHECK(std::abs(m.skew - expected.skew) < 0.03 + 0.1 * expected.skew);
}

}  // namespace

TEST_CASE("a key gives the same number whenever it is asked, and another key another one") {
  const RandomKey key = RandomKey(1).with(2).with(3);
  CHECK(key.bits() == RandomKey(1).with(2).with(3).bits());
  std::set<std::uint64_t> seen;
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    for (std::uint64_t a = 0; a < 30; ++a) {
      for (std::uint64_t b = 0; b < 30; ++b) seen.insert(RandomKey(seed).with(a).with(b).bits());
    }
  }
  CHECK(seen.size() == 30 * 30 * 30);
}

TEST_CASE("numbers of neighbouring keys are uniform and do not follow each other") {
  constexpr int kBins = 100;
  std::vector<double> bins(kBins, 0);
  double product = 0, before = 0.5;
  const RandomKey key(3);
  for (std::uint64_t i = 0; i < kDraws; ++i) {
    const double u = key.with(i).uniform();
    CHECK_MESSAGE((u > 0 && u < 1), u);
    bins[static_cast<std::size_t>(u * kBins)] += 1;
    product += (u - 0.5) * (before - 0.5);
    before = u;
  }
  // Chi square of 99 degrees of freedom: mean 99, standard deviation sqrt(198) = 14.
  const double expected = static_cast<double>(kDraws) / kBins;
  double chi2 = 0;
  for (const double n : bins) chi2 += std::pow(n - expected, 2) / expected;
  CHECK(std::abs(chi2 - 99) < 5 * 14);
  // Uncorrelated: a sum of independent products of variance 1/144.
  CHECK(std::abs(product) < 5 * std::sqrt(kDraws / 144.0));
}

TEST_CASE("distributions have the mean and the deviation that they are told") {
  for (const double sigma : {0.05, 0.4}) {
    const Spread spread{.mean = 1.25, .sigma = sigma};
    const double s = 1.25 * sigma;
    // Skewness of a lognormal: (exp(s2) + 2) sqrt(exp(s2) - 1) with exp(s2) - 1 = sigma^2.
    check_moments("lognormal", spread, {1.25, s, (3 + sigma * sigma) * sigma});
    check_moments("gamma", spread, {1.25, s, 2 * sigma});
    check_moments("exponential", spread, {1.25, s, 2});
    check_moments("uniform", spread, {1.25, s, 0});
  }
}

TEST_CASE("a bell cut off at both ends keeps its mean and loses some of its deviation") {
  // Variance of a normal cut off at -a and a deviations: 1 - 2 a pdf(a) / (cdf(a) - cdf(-a)).
  for (const double sigma : {0.05, 0.4, 1.0}) {
    const double a = 1 / sigma;
    const boost::math::normal_distribution<> bell;
    const double left = 1 - 2 * a * pdf(bell, a) / (cdf(bell, a) - cdf(bell, -a));
    check_moments("normal", {.mean = 2, .sigma = sigma}, {2, 2 * sigma * std::sqrt(left), 0});
  }
  const std::vector<double> draws = draws_of("normal", {.mean = 2, .sigma = 1});
  const auto [least, most] = std::minmax_element(draws.begin(), draws.end());
  CHECK(*least >= 0);
  CHECK(*most <= 4);
}

TEST_CASE("measured values come as often as they were measured, scaled to the mean") {
  std::map<double, int> counts;
  for (const double x : draws_of("empirical", {.mean = 1, .values = {30, 10, 10, 10}})) ++counts[x];
  REQUIRE(counts.size() == 2);
  CHECK(counts.begin()->first == doctest::Approx(10.0 / 15));
  CHECK(counts.rbegin()->first == doctest::Approx(2));
  CHECK(counts.begin()->second == doctest::Approx(0.75 * kDraws).epsilon(0.01));
}

TEST_CASE("no draw is negative, up to the largest deviation that a distribution admits") {
  for (const Distribution* distribution : Registry<Distribution>::all()) {
    CAPTURE(distribution->name);
    Spread spread{.sigma = distribution->most_sigma > 0 ? distribution->most_sigma : 3.0};
    if (!distribution->takes_sigma) spread.values = {1, 2, 3};
    const Quantile quantile = distribution->quantile(spread);
    double before = 0;
    for (const double share : {0x1p-53, 1e-6, 0.1, 0.5, 0.9, 1 - 1e-6, 1 - 0x1p-53}) {
      CHECK(quantile(share) >= before * (1 - 1e-12));
      before = quantile(share);
      CHECK(std::isfinite(before));
    }
  }
}
