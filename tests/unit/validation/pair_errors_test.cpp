// How far off differences of measured runs were.
#include "sim/validation/pair_errors.hpp"

#include <cmath>

#include <doctest/doctest.h>

using namespace stepsim;

namespace {

const RunTraits kDense{"a100", "ampere", "dense transformer", "large layers", "16-bit"};
const RunTraits kSmall{"a100", "ampere", "dense transformer", "small layers", "16-bit"};
const RunKind kKind{{"dense transformer", "16-bit"}, {"one", "two", "three"}};

std::vector<RecordedRuns> measured() {
  return {
      {"one", kDense, "", {-0.1, 0, 0.1}},         {"two", kDense, "", {0.2, 0.2, 0.2, 0.2, 0.2}},
      {"three", kSmall, "", {-0.5, -0.5}},         {"three", kDense, "", {0.0}},
      {"three", kDense, "another job ran", {5.0}}, {"four", kDense, "", {3.0}}};
}

}  // namespace

TEST_CASE("pairs are runs of one suite, each counted both ways, not those that are known") {
  const auto pairs = pair_errors(kKind, kKind, measured());
  REQUIRE(pairs);
  CHECK(pairs->suites == 3);
  CHECK(pairs->pairs == 3 * 2 + 5 * 4 + 3 * 2);
  double weight = 0;
  for (const auto& [ratio, own] : pairs->ratios) weight += own;
  CHECK(weight == doctest::Approx(3));  // each suite counts the same
  for (std::size_t i = 1; i < pairs->ratios.size(); ++i)
    CHECK(pairs->ratios[i - 1].first <= pairs->ratios[i].first);
}

TEST_CASE("errors that runs share are none of their ratio") {
  // Suite two is off by 20 % everywhere, and its ratios are right.
  RunKind two = kKind;
  two.suites = {"two"};
  std::vector<RecordedRuns> runs = measured();
  for (const char* name : {"five", "six"}) {
    runs.push_back({name, kDense, "", {-0.3, -0.3, -0.3}});
    two.suites.emplace_back(name);
  }
  const auto pairs = pair_errors(two, two, runs);
  REQUIRE(pairs);
  CHECK(pairs->median == doctest::Approx(0));
  CHECK(pairs->in_order(0.99) == 1);
  CHECK(pairs->in_order(1.01) == 1);
}

TEST_CASE("the larger a predicted difference, the more pairs have it in the right order") {
  const auto pairs = pair_errors(kKind, kKind, measured());
  double before = 0;
  for (const double ratio : {0.99, 0.9, 0.8, 0.6, 0.4}) {
    const double share = pairs->in_order(ratio);
    CHECK(share >= before);
    before = share;
  }
  CHECK(before == doctest::Approx(1));
  // As pairs are counted both ways, longer steps are as well known as shorter ones.
  CHECK(pairs->in_order(0.9) == doctest::Approx(pairs->in_order(1 / 0.9)));
  // By hand, for 0.93: suite one's ratios are 1/0.9, 1.1/0.9, 1.1 and their inverses, of which
  // 0.9, 0.9/1.1 and 1/1.1 turn it round; suite two has none that does; in suite three 2, 2 and
  // 1, 1 and 0.5, 0.5, of which the last do.
  CHECK(pairs->in_order(0.93) == doctest::Approx((0.5 + 1 + 4.0 / 6) / 3));
}

TEST_CASE("a run of one kind is compared with those of the other kind") {
  const RunKind large{{"large layers"}, {"one", "two", "three"}};
  const RunKind small{{"small layers"}, {"one", "two", "three"}};
  CHECK_FALSE(pair_errors(large, small, measured()));  // two pairs of one suite are too few
  std::vector<RecordedRuns> runs = measured();
  runs.push_back({"one", kSmall, "", {0.1, 0.1, 0.1, 0.1}});
  runs.push_back({"two", kSmall, "", {0.2, 0.2}});
  const auto pairs = pair_errors(large, small, runs);
  REQUIRE(pairs);
  CHECK(pairs->pairs == 3 * 4 + 5 * 2 + 1 * 2);
}

TEST_CASE("few pairs, or pairs of few suites, say nothing") {
  CHECK_FALSE(pair_errors(kKind, kKind, {}));
  RunKind two = kKind;
  two.suites = {"one", "two"};
  CHECK_FALSE(pair_errors(two, two, measured()));
}
