// Random scenarios with random checkpoints: folded runs are those of all ranks, and every moment
// has one name.
#include <cmath>

#include <doctest/doctest.h>

#include "sim/engine/simulate.hpp"
#include "sim/timeline/partition.hpp"
#include "tests/property/random_scenario.hpp"

using namespace stepsim;

namespace {

constexpr int kScenarios = 60;
constexpr double kExact = 1e-9;

Checkpoint random_checkpoint(Picker& pick) {
  Checkpoint c{.every = pick.between(1, 2)};
  c.mode = pick.flip() ? CheckpointMode::async : CheckpointMode::sync;
  c.sharded = pick.flip();
  if (pick.flip()) c.size = Bytes{1e9 * pick.between(1, 100)};
  c.storage = CheckpointStorage{BytesPerSecond{1e9 * pick.between(0, 2)},
                                BytesPerSecond{1e9 * pick.between(1, 4)}};
  return c;
}

}  // namespace

TEST_CASE("folding stays exact with checkpoints, and causes sum to each step") {
  for (int seed = 0; seed < kScenarios; ++seed) {
    const RandomScenario random(static_cast<std::uint64_t>(seed), true);
    Picker pick(static_cast<std::uint64_t>(seed) + 4'000'000);
    Scenario scenario = random.scenario();
    scenario.checkpoint = random_checkpoint(pick);
    scenario.run.steps = 2;  // whole periods
    CAPTURE(seed);
    CAPTURE(random.text());
    const Plan plan = random.plan(scenario);
    const Timeline folded = simulate(plan, {.fold = true}).timeline;
    const Timeline unfolded = simulate(plan, {.fold = false}).timeline;
    double waited = 0;
    for (std::size_t step = 0; step < folded.step_ends.size(); ++step) {
      const double from = folded.step_start(step), to = folded.step_ends[step];
      const double other = unfolded.step_ends[step] - unfolded.step_start(step);
      CHECK(std::abs(to - from - other) <= kExact * other);
      for (const RankTimeline& rank : folded.ranks) {
        double sum = 0;
        const CauseSeconds causes = partition(folded, rank, from, to);
        for (const double part : causes) sum += part;
        CHECK(std::abs(sum - (to - from)) <= kExact * (to - from));
        waited += causes[static_cast<std::size_t>(Cause::checkpoint)];
      }
    }
    CHECK(waited > 0);
  }
}
