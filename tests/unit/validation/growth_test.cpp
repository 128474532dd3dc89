// Slopes of errors against pencil and paper.
#include "sim/validation/growth.hpp"

#include <cmath>

#include <doctest/doctest.h>

#include "sim/validation/score.hpp"

using namespace stepsim;

namespace {

ValidationRow row(const std::string& job, int gpus, double error) {
  ValidationRow one{.suite = "s"};
  one.measured = Seconds{1};
  one.predicted = Prediction{.step = Seconds{1 + error}};
  one.traits.gpus = gpus;
  one.sizeless = job;
  one.sizeless_job = "model " + job.substr(0, 1);
  return one;
}

}  // namespace

TEST_CASE("each job has a level of its own, and all have one slope") {
  // Large models run on many GPUs and are 20 % off: a line through all rows would rise by 4 points
  // a doubling.
  const auto growth = growth_of({row("a", 8, 0.00), row("a", 16, -0.01), row("a", 32, -0.02),
                                 row("b", 64, 0.20), row("b", 128, 0.17), row("c", 512, 0.5)});
  REQUIRE(growth);
  CHECK(growth->rows == 5);  // the job c has one size
  CHECK(growth->jobs == 2);
  CHECK(growth->sizes == 5);
  CHECK(growth->is_as_split);
  // a: sums of squares 2 and of products -0.02; b: 0.5 and -0.015. What is left: 0.00065 less
  // 0.035^2 / 2.5, with 5 rows for 2 levels and a slope.
  CHECK(growth->slope == doctest::Approx(-0.035 / 2.5));
  CHECK(growth->uncertainty == doctest::Approx(std::sqrt((0.00065 - 0.00049) / 2 / 2.5)));
}

TEST_CASE("rows that are split in other ways are one job where no others are") {
  const std::vector<ValidationRow> rows{row("a1", 8, 0), row("a2", 16, 0.02), row("a3", 32, 0.04)};
  const auto growth = growth_of(rows);
  REQUIRE(growth);
  CHECK(growth->slope == doctest::Approx(0.02));
  CHECK_FALSE(growth->is_as_split);
}

TEST_CASE("two sizes, known rows and other software make no slope") {
  std::vector<ValidationRow> rows{row("a", 8, 0), row("a", 8, 0.1), row("a", 16, 0.02),
                                  row("a", 16, 0.03)};
  CHECK_FALSE(growth_of(rows));
  rows.push_back(row("a", 32, 0.02));
  CHECK(growth_of(rows));
  rows.back().known = "slow";
  CHECK_FALSE(growth_of(rows));
  rows.back().known.clear();
  rows.back().groups = {{"software", "another"}};
  CHECK_FALSE(growth_of(rows));
}
