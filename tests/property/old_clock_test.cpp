// Runs late in the life of a clock: after hours of simulated time steps take as long as after none.
#include <doctest/doctest.h>

#include "sim/engine/simulate.hpp"
#include "tests/closed_form/harness.hpp"
#include "tests/property/own_process.hpp"
#include "tests/property/random_scenario.hpp"

using namespace stepsim;

namespace {

/// SimGrid's clock survives a simulation.
void let_pass(double seconds) {
  const Experiment slow(on_paper(R"(
model: {name: m, kind: mlp, layers: 1, width: 1}
cluster: {name: c, gpu: a100-80, gpus_per_node: 1, intra_node: {bandwidth: 1 GB/s, latency: 0 us}}
training: {global_batch: 1, precision: fp16, gradient_clipping: false}
host: {launch: 0 us}
run: {steps: 1, warmup: 0}
)"),
                        paper_graph(paper_layer(Seconds{seconds / 3}, Seconds{seconds / 1.5}), 1));
  if (slow.step_seconds() < seconds / 2) std::abort();
}

}  // namespace

// Later steps may differ: where collectives meet on links, who comes first by a rounding error
// changes who waits.
TEST_CASE("the age of the clock ends no run early, and changes no first step") {
  for (int seed = 0; seed < 100; ++seed) {
    CAPTURE(seed);
    const RandomScenario random(static_cast<std::uint64_t>(seed), true);
    const Scenario scenario = random.scenario();
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
