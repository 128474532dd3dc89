// Folded and unfolded runs of random scenarios are equal to the bit, with faults and without.
#include <cmath>

#include <doctest/doctest.h>

#include "sim/engine/simulate.hpp"
#include "tests/property/draws.hpp"
#include "tests/property/random_faults.hpp"

using namespace stepsim;

namespace {

// A report has three digits.
constexpr double kNoticed = 1e-3;

/// Whether links that are faster by up to 1e-12 move a step by more than can be seen.
bool is_chaotic(const Plan& plan, const std::vector<double>& ends) {
  for (const std::uint64_t nudge : {1, 2}) {
    const auto other = simulate(plan, {.spans = false, .nudge = nudge}).timeline.step_ends;
    if (std::abs(other.back() - ends.back()) > kNoticed * ends.back()) return true;
  }
  return false;
}

}  // namespace

TEST_CASE("folded and unfolded runs of random scenarios are equal to the bit") {
  const DrawSeeds draws = draw_seeds(100);
  std::int64_t ranks = 0, simulated = 0, transfers = 0, chaotic = 0;
  for (std::uint64_t seed = draws.first; seed < draws.first + draws.count; ++seed) {
    const RandomScenario random(seed, true);
    Scenario scenario = random.scenario();
    Picker pick(seed + 9'000'000);
    for (const bool faulty : {false, true}) {
      CAPTURE(seed);
      CAPTURE(faulty);
      CAPTURE(random.text());
      if (faulty) scenario.faults = random_faults(pick, scenario.cluster);
      const Plan plan = random.plan(scenario);
      const Simulation one = simulate(plan, {.spans = false, .fold = true});
      const Simulation other = simulate(plan, {.spans = false, .fold = false});
      CHECK(one.timeline.step_ends == other.timeline.step_ends);
      chaotic += is_chaotic(plan, one.timeline.step_ends) ? 1 : 0;
      ranks += one.stats.ranks_total;
      simulated += one.stats.ranks_simulated;
      transfers += one.stats.transfers;
    }
  }
  MESSAGE("simulated " << simulated << " of " << ranks << " ranks, " << transfers
                       << " transfers contended, " << chaotic << " runs are chaotic");
  CHECK(simulated < ranks);
  CHECK(transfers > 0);
}
