// Folding is exact with faults, too: only what they touch is unfolded, and the rest stands for its
// class.
#include <cmath>

#include <doctest/doctest.h>

#include "tests/property/own_process.hpp"
#include "tests/property/random_scenario.hpp"

using namespace stepsim;

namespace {

constexpr int kScenarios = 60;
constexpr double kExact = 1e-9;

/// Some of the faults that there are, given to some of the ranks.
Faults random_faults(Picker& pick, const Cluster& cluster) {
  Faults faults;
  const int last = cluster.gpus() - 1;
  if (pick.flip()) {
    faults.slow_gpus.push_back({.who = {.ranks = {pick.between(0, last)}},
                                .factor = 1 + pick.between(0, 5) / 10.0,
                                .delay = Seconds{pick.between(1, 9) * 1e-3}});
  }
  if (cluster.inter_node && cluster.nodes > 1 && pick.flip()) {
    SlowLinks slow{.who = {.nodes = {pick.between(0, cluster.nodes - 1)}}, .factor = 0.25};
    if (pick.flip()) {
      slow.from = Seconds{1e-3};
      slow.until = Seconds{3e-3};
      slow.period = Seconds{7e-3};
    }
    faults.slow_links.push_back(slow);
  }
  const auto jitter = [&] {
    return Jitter{.spread = {.sigma = 0.1},
                  .per = pick.flip() ? DrawPer::call : DrawPer::step,
                  .who = {.ranks = {pick.between(0, last), pick.between(0, last)}}};
  };
  if (pick.flip()) faults.kernels = jitter();
  if (pick.flip()) faults.collectives = jitter();
  return faults;
}

}  // namespace

TEST_CASE("folded and unfolded runs with faults take equally long, step by step") {
  std::size_t ranks = 0, simulated = 0;
  for (int seed = 0; seed < kScenarios; ++seed) {
    CAPTURE(seed);
    const RandomScenario random(static_cast<std::uint64_t>(seed), true);
    CAPTURE(random.text());
    Picker pick(static_cast<std::uint64_t>(seed) + 9'000'000);
    Scenario scenario = random.scenario();
    scenario.faults = random_faults(pick, scenario.cluster);
    const Plan plan = random.plan(scenario);
    const auto folded = step_ends_in_own_process(plan, {.spans = false, .fold = true});
    const auto unfolded = step_ends_in_own_process(plan, {.spans = false, .fold = false});
    REQUIRE(folded.size() == unfolded.size());
    for (std::size_t step = 0; step < folded.size(); ++step)
      CHECK(std::abs(folded[step] - unfolded[step]) <= kExact * unfolded[step]);
    simulated += fold_plan(plan, true).ranks.size();
    ranks += plan.program_of.size();
  }
  CHECK(simulated < ranks);
}

TEST_CASE("a run with faults is the same each time, and another one with another seed") {
  const RandomScenario random(3, true);
  Scenario scenario = random.scenario();
  scenario.faults.kernels = Jitter{.spread = {.sigma = 0.1}};
  const auto ends = [&](std::uint64_t seed, int replica) {
    scenario.run.seed = seed;
    return step_ends_in_own_process(make_plan(scenario, build(scenario), {.replica = replica}),
                                    {.spans = false});
  };
  CHECK(ends(1, 0) == ends(1, 0));
  CHECK(ends(1, 0) != ends(2, 0));
  CHECK(ends(1, 0) != ends(1, 1));
}
