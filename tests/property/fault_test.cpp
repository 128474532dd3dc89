// What faults draw follows from the seed and the replica, and from nothing else.
#include <doctest/doctest.h>

#include "sim/engine/simulate.hpp"
#include "tests/property/random_scenario.hpp"

using namespace stepsim;

TEST_CASE("a run with faults is the same each time, and another one with another seed") {
  const RandomScenario random(3, true);
  Scenario scenario = random.scenario();
  scenario.faults.kernels = Jitter{.spread = {.sigma = 0.1}};
  const auto ends = [&](std::uint64_t seed, int replica) {
    scenario.run.seed = seed;
    const Plan plan = make_plan(scenario, build(scenario), {.replica = replica});
    return simulate(plan, {.spans = false}).timeline.step_ends;
  };
  CHECK(ends(1, 0) == ends(1, 0));
  CHECK(ends(1, 0) != ends(2, 0));
  CHECK(ends(1, 0) != ends(1, 1));
}
