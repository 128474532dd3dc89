// The engine against a longest path: equal where nothing contends, never faster where something
// does.
#include "tests/property/oracle.hpp"

#include <doctest/doctest.h>

#include "sim/engine/simulate.hpp"
#include "tests/property/random_scenario.hpp"

using namespace stepsim;

namespace {

constexpr int kScenarios = 50;
constexpr double kExact = 1e-9;

}  // namespace

TEST_CASE("where nothing contends every step of the engine is the longest path") {
  std::int64_t transfers = 0;
  for (int seed = 0; seed < kScenarios; ++seed) {
    const RandomScenario random(static_cast<std::uint64_t>(seed), false);
    CAPTURE(seed);
    CAPTURE(random.text());
    const Scenario scenario = random.scenario();
    const Plan plan = random.plan(scenario);
    const std::vector<double> expected = Oracle::step_ends(plan);
    const Simulation simulation = simulate(plan, {.fold = false});
    REQUIRE(simulation.timeline.step_ends.size() == expected.size());
    for (std::size_t step = 0; step < expected.size(); ++step) {
      CAPTURE(step);
      CHECK(std::abs(simulation.timeline.step_ends[step] - expected[step]) <=
            kExact * expected[step]);
    }
    transfers += simulation.stats.transfers;
  }
  MESSAGE(transfers << " transfers met on links that they fill");
  CHECK(transfers > 0);  // over leaf links that carry all of them at full speed
}

TEST_CASE("where transfers contend the engine is never faster than the longest path") {
  int slower = 0;
  for (int seed = 0; seed < kScenarios; ++seed) {
    const RandomScenario random(static_cast<std::uint64_t>(seed), true);
    CAPTURE(seed);
    CAPTURE(random.text());
    const Scenario scenario = random.scenario();
    const Plan plan = random.plan(scenario);
    const std::vector<double> bound = Oracle::step_ends(plan);
    const std::vector<double> ends = simulate(plan).timeline.step_ends;
    for (std::size_t step = 0; step < bound.size(); ++step) {
      CAPTURE(step);
      CHECK(ends[step] >= bound[step] * (1 - kExact));
    }
    if (ends.back() > bound.back() * 1.001) ++slower;
  }
  MESSAGE(slower << " of " << kScenarios << " scenarios contend");
  CHECK(slower > kScenarios / 5);
}
