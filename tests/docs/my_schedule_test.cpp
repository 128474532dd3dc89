// The schedule that docs/how-to-add.md adds is found by its name and does what its comment says.
#include <algorithm>

#include <doctest/doctest.h>

#include "sim/core/registry.hpp"
#include "sim/engine/simulate.hpp"
#include "sim/ops/op_graph.hpp"
#include "sim/plan/load.hpp"
#include "sim/plan/schedule.hpp"
#include "tests/source_folder.hpp"

using namespace stepsim;

namespace {

double seconds_with(const std::string& schedule) {
  const Scenario scenario =
      load({.path = std::string(source_folder()) + "/scenarios/gpt3-175b-1024xa100.yaml",
            .overrides = {"training.global_batch=128", "parallelism.pipeline.schedule=" + schedule,
                          "expect=null"}});
  const Timeline timeline = simulate(make_plan(scenario, build(scenario))).timeline;
  return timeline.step_ends.back() - timeline.step_start(timeline.step_ends.size() - 1);
}

}  // namespace

TEST_CASE("the mirrored schedule runs every micro-batch forward once and backward once") {
  const Schedule* mirror = Registry<Schedule>::find("mirror");
  REQUIRE(mirror != nullptr);
  const auto actions = mirror->order({.stages = 4, .micro_batches = 6}, 0);
  REQUIRE(actions.size() == 12);
  for (int i = 0; i < 6; ++i) {
    CHECK(std::count(actions.begin(), actions.end(), Action{PassKind::forward, i}) == 1);
    CHECK(actions[static_cast<std::size_t>(11 - i)] == Action{PassKind::backward, i});
  }
  CHECK(peak_in_flight(actions) == 6);
}

TEST_CASE("a scenario can name the mirrored schedule, and its bubble is that of GPipe") {
  CHECK(seconds_with("mirror") == doctest::Approx(seconds_with("gpipe")).epsilon(1e-4));
}
