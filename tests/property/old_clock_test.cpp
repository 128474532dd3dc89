// SimGrid late in the life of its clock: after hours of simulated time steps take as long as after
// none.
#include <doctest/doctest.h>

#include "sim/engine/simulate.hpp"
#include "tests/closed_form/board_calls.hpp"
#include "tests/closed_form/harness.hpp"
#include "tests/property/own_process.hpp"
#include "tests/property/random_scenario.hpp"

using namespace stepsim;

namespace {

/// SimGrid's clock runs while transfers share a link, and survives a simulation.
void let_pass(double seconds) {
  Folding folding;
  folding.links = {BytesPerSecond{1e6}};
  folding.groups.resize(1);
  auto& streams = folding.groups[0].streams[0];
  streams.assign(2, {.crossings = {{0, 1}}, .alone = BytesPerSecond{1e6}});
  BoardCalls board(folding, EngineKind::simgrid);
  double passed = 0;
  board.at(0, [&](double now) {
    for (const FoldedStream& stream : streams)
      board.transfer(stream, seconds / 2 * 1e6, 1e30, now, [&](double end) { passed = end; });
  });
  board.run();
  if (passed < seconds * (1 - 1e-9)) std::abort();
}

}  // namespace

// Later steps may differ: where collectives meet on links, who comes first by a rounding error
// changes who waits.
TEST_CASE("the age of the clock ends no run early, and changes no first step") {
  for (int seed = 0; seed < 100; ++seed) {
    CAPTURE(seed);
    const RandomScenario random(static_cast<std::uint64_t>(seed), true);
    Scenario scenario = random.scenario();
    scenario.run.engine = EngineKind::simgrid;
    const Plan plan = random.plan(scenario);
    const SimulateOptions options{.spans = false, .fold = false};
    const auto young = step_ends_in_own_process(plan, options);
    for (const double age : {7001.3, 1e6 / 7}) {
      CAPTURE(age);
      const auto old = step_ends_in_own_process(plan, options, [&] { let_pass(age); });
      REQUIRE(old.size() == young.size());
      CHECK(old.front() == doctest::Approx(young.front()).epsilon(1e-6));
    }
  }
}
