// Sets of intervals against what is counted moment by moment.
#include "sim/recording/interval_set.hpp"

#include <random>

#include <doctest/doctest.h>

using namespace stepsim;

namespace {

constexpr Nanoseconds kMoments = 40;

std::vector<bool> moments_of(const std::vector<Interval>& intervals) {
  std::vector<bool> moments(kMoments);
  for (const Interval& interval : intervals) {
    for (Nanoseconds t = interval.start; t < interval.end; ++t)
      moments[static_cast<std::size_t>(t)] = true;
  }
  return moments;
}

template <class Rule>
Nanoseconds counted(const std::vector<bool>& a, const std::vector<bool>& b, Rule rule) {
  Nanoseconds count = 0;
  for (std::size_t t = 0; t < a.size(); ++t) count += rule(a[t], b[t]) ? 1 : 0;
  return count;
}

bool is_in_order(const IntervalSet& set) {
  for (std::size_t i = 0; i < set.size(); ++i) {
    if (set[i].length() <= 0 || (i > 0 && set[i - 1].end >= set[i].start)) return false;
  }
  return true;
}

}  // namespace

TEST_CASE("intervals that overlap or touch are one") {
  CHECK(united({{5, 9}, {1, 3}, {3, 4}, {8, 12}, {20, 20}}) == IntervalSet{{1, 4}, {5, 12}});
  CHECK(united({{3, 1}}).empty());
}

TEST_CASE("an intersection, a difference and a part of a set") {
  const IntervalSet a{{0, 10}, {20, 30}};
  const IntervalSet b{{5, 22}, {25, 26}};
  CHECK(intersection(a, b) == IntervalSet{{5, 10}, {20, 22}, {25, 26}});
  CHECK(difference(a, b) == IntervalSet{{0, 5}, {22, 25}, {26, 30}});
  CHECK(difference(a, {}) == a);
  CHECK(clipped(a, {8, 21}) == IntervalSet{{8, 10}, {20, 21}});
  CHECK(length_within(a, {8, 21}) == 3);
  CHECK(length(a) == 20);
}

TEST_CASE("sets of random intervals have the moments that they should") {
  std::mt19937 random(7);
  const auto some = [&] {
    std::vector<Interval> intervals;
    for (unsigned i = random() % 8; i > 0; --i) {
      const Nanoseconds start = random() % 30;
      intervals.push_back({start, start + static_cast<Nanoseconds>(random() % 10)});
    }
    return intervals;
  };
  for (int round = 0; round < 2000; ++round) {
    const auto x = some(), y = some();
    const IntervalSet a = united(x), b = united(y);
    const auto in_a = moments_of(x), in_b = moments_of(y);
    CHECK(is_in_order(a));
    CHECK(length(a) == counted(in_a, in_b, [](bool p, bool) { return p; }));
    CHECK(length(intersection(a, b)) == counted(in_a, in_b, [](bool p, bool q) { return p && q; }));
    CHECK(length(difference(a, b)) == counted(in_a, in_b, [](bool p, bool q) { return p && !q; }));
    CHECK(is_in_order(difference(a, b)));
    CHECK(length_within(a, {7, 23}) == length(clipped(a, {7, 23})));
    CHECK(length(clipped(a, {7, 23})) == length(intersection(a, {{7, 23}})));
  }
}
