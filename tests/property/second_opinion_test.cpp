// SimGrid, as the second opinion, shares links as the exact engine does.
#include <cmath>
#include <filesystem>

#include <doctest/doctest.h>

#include "tests/property/draws.hpp"
#include "tests/property/own_process.hpp"
#include "tests/property/random_faults.hpp"

using namespace stepsim;
namespace fs = std::filesystem;

namespace {

constexpr double kAlike = 1e-6;
// A step that a change of 1e-12 moves by more than this is moved by what SimGrid rounds, too.
constexpr double kAmplified = 1e-9;

double apart(const std::vector<double>& one, const std::vector<double>& other) {
  REQUIRE(one.size() == other.size());
  double most = 0;
  for (std::size_t step = 0; step < one.size(); ++step)
    most = std::max(most, std::abs(one[step] - other[step]) / other[step]);
  return most;
}

/// How far links that are faster by up to 1e-12 move a step.
double amplified(const Plan& plan, const std::vector<double>& ends) {
  double most = 0;
  for (std::uint64_t nudge = 1; nudge <= 4; ++nudge)
    most = std::max(
        most, apart(simulate(plan, {.spans = false, .nudge = nudge}).timeline.step_ends, ends));
  return most;
}

}  // namespace

TEST_CASE("SimGrid takes as long for every scenario of the repository") {
  int compared = 0;
  for (const auto& entry : fs::directory_iterator(fs::path(source_folder()) / "scenarios")) {
    if (entry.path().extension() != ".yaml") continue;
    CAPTURE(entry.path().string());
    const Scenario scenario = load_scenario(entry.path().string());
    Plan plan = make_plan(scenario, build(scenario));
    const auto exact = simulate(plan, {.spans = false}).timeline.step_ends;
    plan.engine = EngineKind::simgrid;
    CHECK(apart(step_ends_in_own_process(plan, {.spans = false}), exact) <= kAlike);
    ++compared;
  }
  CHECK(compared > 20);
}

TEST_CASE("SimGrid takes as long for random scenarios, but where the last digit decides") {
  const DrawSeeds draws = draw_seeds(60);
  std::uint64_t amplifying = 0;
  std::int64_t transfers = 0;
  for (std::uint64_t seed = draws.first; seed < draws.first + draws.count; ++seed) {
    const RandomScenario random(seed, true);
    Scenario scenario = random.scenario();
    Picker pick(seed + 9'000'000);
    if (seed % 2 == 1) scenario.faults = random_faults(pick, scenario.cluster);
    CAPTURE(seed);
    CAPTURE(random.text());
    Plan plan = random.plan(scenario);
    const Simulation exact = simulate(plan, {.spans = false});
    transfers += exact.stats.transfers;
    plan.engine = EngineKind::simgrid;
    const auto second = step_ends_in_own_process(plan, {.spans = false});
    const double difference = apart(second, exact.timeline.step_ends);
    if (difference <= kAlike) continue;
    ++amplifying;
    plan.engine = EngineKind::exact;
    const double moved = amplified(plan, exact.timeline.step_ends);
    MESSAGE("seed " << seed << ": " << difference << " apart; a change of 1e-12 moves it by "
                    << moved);
    CHECK(moved > kAmplified);
  }
  CHECK(transfers > 0);
  CHECK(50 * amplifying <= draws.count + 50);
}
