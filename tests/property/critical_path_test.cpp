// The critical path of random scenarios: it covers the step, and nobody on it waits for a rank.
#include "sim/timeline/critical_path.hpp"

#include <doctest/doctest.h>

#include "sim/engine/simulate.hpp"
#include "tests/property/random_scenario.hpp"

using namespace stepsim;

namespace {

constexpr double kExact = 1e-9;
constexpr int kScenarios = 100;

void check_path(const Timeline& timeline, std::size_t step) {
  const double from = timeline.step_start(step), to = timeline.step_ends[step];
  double reached = from, sum = 0;
  for (const PathSegment& segment : critical_path(timeline, step)) {
    CHECK(segment.seconds > 0);
    CHECK(std::abs(segment.start - reached) <= kExact * (to - from));
    reached = segment.start + segment.seconds;
    sum += segment.seconds;
  }
  CHECK(std::abs(sum - (to - from)) <= kExact * (to - from));
}

double waits_in(const Timeline& timeline, std::size_t step) {
  const CauseSeconds causes = causes_of(critical_path(timeline, step));
  return causes[static_cast<std::size_t>(Cause::sync_wait)] +
         causes[static_cast<std::size_t>(Cause::pipeline_bubble)];
}

}  // namespace

TEST_CASE("the critical path of every step of random scenarios sums to the step") {
  for (int seed = 0; seed < kScenarios; ++seed) {
    const RandomScenario random(static_cast<std::uint64_t>(seed), true);
    CAPTURE(seed);
    CAPTURE(random.text());
    const Scenario scenario = random.scenario();
    const Plan plan = random.plan(scenario);
    for (const bool fold : {true, false}) {
      for (const bool kernels : {true, false}) {
        const Timeline timeline = simulate(plan, {.fold = fold, .kernels = kernels}).timeline;
        for (std::size_t step = 0; step < timeline.step_ends.size(); ++step) {
          check_path(timeline, step);
          if (fold) CHECK(waits_in(timeline, step) <= kExact * timeline.step_ends[step]);
        }
      }
    }
  }
}
