// Parts of a sweep: together they are the whole, and alike.
#include "sim/sweep/shard.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include <doctest/doctest.h>

#include "sim/core/error.hpp"

using namespace stepsim;

TEST_CASE("each point is in one part, and parts differ by a point at most") {
  for (const std::int64_t of : {1, 2, 7, 64}) {
    for (const std::int64_t points : {0, 1, 63, 1000}) {
      CAPTURE(of);
      CAPTURE(points);
      std::int64_t all = 0;
      std::vector<std::int64_t> shares;
      for (std::int64_t part = 1; part <= of; ++part) {
        std::int64_t has = 0;
        for (std::int64_t i = 0; i < points; ++i) has += Shard{part, of}.has(i) ? 1 : 0;
        CHECK(Shard{part, of}.share(points) == has);
        shares.push_back(has);
        all += has;
      }
      CHECK(all == points);
      const auto [least, most] = std::minmax_element(shares.begin(), shares.end());
      CHECK(*most - *least <= 1);
    }
  }
}

TEST_CASE("a part has every value of the last axis, whatever their number") {
  for (const std::int64_t of : {2, 3, 4, 8}) {
    for (const std::int64_t values : {2, 3, 4, 5, 7, 8, 9, 16}) {
      CAPTURE(of);
      CAPTURE(values);
      std::vector<int> seen(static_cast<std::size_t>(values));
      for (std::int64_t i = 0; i < 100 * values; ++i)
        seen[static_cast<std::size_t>(i % values)] += Shard{1, of}.has(i) ? 1 : 0;
      // 100 draws of one in `of`; five standard deviations
      const double mean = 100.0 / static_cast<double>(of);
      for (const int count : seen) CHECK(std::abs(count - mean) < 5 * std::sqrt(mean));
    }
  }
}

TEST_CASE("what is no part is said") {
  CHECK(shard_of("").is_all());
  CHECK(shard_of("2/8").part == 2);
  for (const char* text : {"2", "0/2", "3/2", "1/x", "/", "-1/2"})
    CHECK_THROWS_AS(shard_of(text), UserError);
  CHECK(default_store("a/mine.yaml", shard_of("2/8")) == "a/mine.2-of-8.sweep.db");
  CHECK(default_store("a/mine.yaml", {}) == "a/mine.sweep.db");
}
