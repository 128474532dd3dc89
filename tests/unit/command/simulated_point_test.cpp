// A point of a sweep has the numbers of a run, though it may simulate fewer steps.
#include "sim/command/answer/simulated_point.hpp"

#include <string>

#include "sim/engine/simulate.hpp"
#include "sim/ops/op_graph.hpp"
#include "sim/plan/plan.hpp"
#include "sim/report/measure/measure.hpp"
#include "tests/closed_form/harness.hpp"

using namespace stepsim;

namespace {

/// Two stages on two nodes, in which a loader or a jitter makes a step differ from the next.
Scenario two_stages(const std::string& run, const std::string& more = "") {
  return scenario_of(R"(
model: {name: t, layers: 4, hidden: 512, heads: 4, vocabulary: 4000}
cluster: {name: c, gpu: a100-80, nodes: 2, gpus_per_node: 2, intra_node: nvlink3,
          inter_node: {nics_per_node: 1, bandwidth: 100 Gbit/s, latency: 5 us}}
training: {global_batch: 16, sequence_length: 256, precision: bf16}
parallelism: {pipeline: {stages: 2}}
)" + more + "run: {" +
                     run + "}\n");
}

void check_point(const Scenario& scenario) {
  const OpGraph graph = build(scenario);
  const Metrics run = measure(scenario, graph, simulate(make_plan(scenario, graph)));
  PlanCache cache;
  const Outcome point = simulated_point(scenario, cache);
  REQUIRE(point.numbers.has_value());
  CHECK(point.numbers->step.seconds() == nine_digits(run.step_time.seconds()));
  CHECK(point.numbers->mfu == nine_digits(run.mfu));
  CHECK(point.numbers->peak.bytes() == run.memory.worst().total().bytes());
  for (std::size_t cause = 0; cause < kCauses; ++cause) {
    const double difference = point.numbers->breakdown[cause] - run.breakdown[cause];
    CHECK(std::abs(difference) <= 1e-9 * run.step_time.seconds());
  }
}

}  // namespace

TEST_CASE("a point has the numbers of a run, however many steps that has") {
  for (const char* run : {"steps: 2, warmup: 1", "steps: 5, warmup: 3", "steps: 1, warmup: 1",
                          "steps: 2, warmup: 0"}) {
    CAPTURE(run);
    check_point(two_stages(run));
  }
}

TEST_CASE("so has one whose steps differ") {
  const std::string run = "steps: 4, warmup: 1";
  SUBCASE("a loader") {
    check_point(two_stages(run, "data: {sample_size: 100 KB, workers: 1, decode: 5 ms}\n"));
  }
  SUBCASE("a jitter") {
    check_point(two_stages(
        run, "faults: {jitter: {kernels: {distribution: lognormal, sigma: 3 %, per: step}}}\n"));
  }
  SUBCASE("a collection of garbage every other step") {
    check_point(two_stages(run, "host: {garbage_collection: {pause: 20 ms, every: 2}}\n"));
  }
}
