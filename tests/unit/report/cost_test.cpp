// What a run costs: dollars of hours, steps, tokens and waits.
#include "sim/report/measure/cost.hpp"

#include <doctest/doctest.h>

using namespace stepsim;

namespace {

/// Eight GPUs at 2 $/h, steps of 500 ms of which each GPU waits 120 ms, 64 samples a step.
RunCost eight_gpus() { return cost_of({2}, 8, 0.5, 0.12, 128, 128 * 1024.0); }

}  // namespace

TEST_CASE("a job costs its GPUs' hours") {
  const RunCost cost = eight_gpus();
  CHECK(cost.per_hour == doctest::Approx(16));
  CHECK(cost.per_day == doctest::Approx(16 * 24));
  CHECK(cost.per_step == doctest::Approx(16 * 0.5 / 3600));
}

TEST_CASE("a gap of 120 ms in steps of 500 ms wastes 24 % of a month of 720 hours") {
  const RunCost cost = eight_gpus();
  CHECK(cost.wasted_fraction == doctest::Approx(0.24));
  CHECK(cost.wasted_per_month() == doctest::Approx(0.24 * 16 * 720));
  CHECK(dollars(cost.wasted_per_month()) == "2,764.80 $");
}

TEST_CASE("a million tokens cost the hours that they take") {
  const RunCost cost = eight_gpus();
  CHECK(cost.per_million_tokens == doctest::Approx(1e6 / (128 * 1024.0) * 16 / 3600));
  CHECK(cost.per_million_samples == doctest::Approx(1e6 / 128 * 16 / 3600));
  CHECK(cost_of({2}, 8, 0.5, 0.12, 128, 0).per_million_tokens == 0);
}

TEST_CASE("dollars have cents, and three digits below a dollar") {
  CHECK(dollars(0) == "0.00 $");
  CHECK(dollars(0.00222222) == "0.00222 $");
  CHECK(dollars(0.16) == "0.160 $");
  CHECK(dollars(0.999) == "1.00 $");
  CHECK(dollars(16) == "16.00 $");
  CHECK(dollars(1234567.891) == "1,234,567.89 $");
}
