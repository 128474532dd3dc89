// Statistics of replicas against tables and definitions.
#include "sim/report/measure/statistics.hpp"

#include <cmath>

#include <doctest/doctest.h>

#include "sim/core/random.hpp"

using namespace stepsim;

TEST_CASE("statistics of five numbers are those of the textbook") {
  const Statistics s = statistics_of({5_s, 1_s, 4_s, 2_s, 3_s});
  CHECK(s.count == 5);
  CHECK(s.mean == 3_s);
  CHECK(s.median == 3_s);
  CHECK(s.least == 1_s);
  CHECK(s.most == 5_s);
  CHECK(s.p95.seconds() == doctest::Approx(4.8));  // 1 + 0.95 x 4 = the 4.8th of them
  CHECK(s.sigma.seconds() == doctest::Approx(std::sqrt(2.5)));
  // t for 4 degrees of freedom and 97.5 %: 2.776445 in any table.
  CHECK(s.confidence.seconds() == doctest::Approx(2.776445 * std::sqrt(2.5 / 5)).epsilon(1e-6));
}

TEST_CASE("the median of an even number lies between two, and its index is the smaller one's") {
  const std::vector<Seconds> values{4_s, 1_s, 3_s, 2_s};
  CHECK(statistics_of(values).median.seconds() == doctest::Approx(2.5));
  CHECK(index_of_median(values) == 3);
  CHECK(index_of_median({2_s, 1_s, 1_s}) == 2);
}

TEST_CASE("a single value has no deviation and no confidence") {
  const Statistics s = statistics_of({2_s});
  CHECK(s.mean == 2_s);
  CHECK(s.p95 == 2_s);
  CHECK(std::isnan(s.sigma.seconds()));
  CHECK(std::isnan(s.confidence.seconds()));
}

TEST_CASE("the interval holds the true mean as often as it promises") {
  constexpr int kSamples = 4000, kSize = 6;
  const RandomKey key(11);
  int held = 0;
  for (std::uint64_t sample = 0; sample < kSamples; ++sample) {
    std::vector<Seconds> values;
    for (std::uint64_t i = 0; i < kSize; ++i) {
      double sum = 0;  // the sum of twelve uniform numbers: nearly normal, mean 6
      for (std::uint64_t k = 0; k < 12; ++k) sum += key.with(sample).with(i).with(k).uniform();
      values.emplace_back(sum);
    }
    const Statistics s = statistics_of(values);
    held += std::abs(s.mean.seconds() - 6) <= s.confidence.seconds() ? 1 : 0;
  }
  // Five standard errors of a share of 0.95.
  CHECK(std::abs(held / double{kSamples} - 0.95) < 5 * std::sqrt(0.95 * 0.05 / kSamples));
}
