// The best value and its neighbours that are as good.
#include "sim/sweep/flatness.hpp"

#include <doctest/doctest.h>

#include "sim/core/error.hpp"

using namespace stepsim;

namespace {

using Values = std::vector<std::optional<double>>;

void check_range(const std::optional<FlatRange>& range, std::size_t first, std::size_t best,
                 std::size_t last) {
  REQUIRE(range.has_value());
  CHECK(range->first == first);
  CHECK(range->best == best);
  CHECK(range->last == last);
}

}  // namespace

TEST_CASE("the range reaches as far as values are within the share, without a gap") {
  const Objective& step = objective_of("step_time");
  check_range(flat_range(Values{110.0, 100.9, 100.0, 100.5, 102.0, 100.1}, step), 1, 2, 3);
  check_range(flat_range(Values{100.0, 100.0, 100.0}, step), 0, 0, 2);
  check_range(flat_range(Values{3.0, 2.0, 1.0}, step), 2, 2, 2);
}

TEST_CASE("a share of one per cent includes its end") {
  check_range(flat_range(Values{101.0, 100.0, 101.0001}, objective_of("step_time")), 0, 1, 1);
}

TEST_CASE("more is better for rates") {
  check_range(flat_range(Values{0.30, 0.399, 0.40, 0.39}, objective_of("mfu")), 1, 2, 2);
}

TEST_CASE("points without a value are a gap, and no value has no range") {
  const Objective& step = objective_of("step_time");
  check_range(flat_range(Values{100.0, std::nullopt, 99.9}, step), 2, 2, 2);
  CHECK_FALSE(flat_range(Values{std::nullopt, std::nullopt}, step).has_value());
  CHECK_FALSE(flat_range(Values{}, step).has_value());
}

TEST_CASE("an unknown objective names the nearest") {
  CHECK_THROWS_WITH_AS(objective_of("step_tim"),
                       "unknown objective 'step_tim', did you mean 'step_time'?", UserError);
}
