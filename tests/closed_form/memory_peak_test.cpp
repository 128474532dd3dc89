// The memory curve over a step: how high it rises, where, and that the clock changes nothing.
//
// Backward of a block holds what the ops before and at this one have saved, the gradients that are
// known but not used up, and the op's scratch. For a stack of L linear layers of width w on b
// samples, 16-bit, with x = 2 b w bytes an activation and g = 2 w^2 bytes a new weight gradient:
// each layer saves its input and the input of its ReLU, 2 x; the loss saves x.
#include <algorithm>

#include <fmt/format.h>

#include "sim/core/registry.hpp"
#include "sim/plan/memory/memory.hpp"
#include "tests/closed_form/harness.hpp"

using namespace stepsim;

namespace {

constexpr double kLayers = 6, kWidth = 1024, kBatch = 256;
constexpr double x = 2 * kBatch * kWidth;
constexpr double g = 2 * kWidth * kWidth;

StageMemory stack_of_linears(const char* recompute) {
  const Scenario scenario = scenario_of(fmt::format(R"(
model: {{name: m, kind: mlp, layers: {}, width: {}}}
cluster: {{name: c, gpu: a100-80, gpus_per_node: 1}}
training: {{global_batch: {}, micro_batch: {}, precision: fp16, recompute: {}}}
)",
                                                    kLayers, kWidth, kBatch, kBatch, recompute));
  return memory_of_stage(scenario, build(scenario), 0);
}

Scenario small_transformer(const char* schedule, int chunks, const char* recompute,
                           const char* sharding) {
  return scenario_of(fmt::format(R"(
model: {{name: t, layers: 8, hidden: 512, heads: 8, vocabulary: 4000, tied_embeddings: false}}
cluster:
  {{name: c, gpu: a100-80, nodes: 4, gpus_per_node: 4, intra_node: nvlink3,
   inter_node: {{nics_per_node: 4, bandwidth: 100 Gbit/s, latency: 5 us}}}}
training: {{global_batch: 16, sequence_length: 256, precision: bf16, recompute: {2}}}
parallelism:
  tensor: 2
  sequence: true
  pipeline: {{stages: {4}, schedule: {0}, chunks: {1}, overlap_p2p: {5}}}
  data: {{sharding: {3}}}
run: {{steps: 2, warmup: 1}}
)",
                                 schedule, chunks, recompute, sharding,
                                 std::string(sharding) == "zero3" ? 1 : 4,
                                 std::string(sharding) == "zero3" ? "false" : "true"));
}

double most_of(const RankTimeline& rank) {
  double most = 0;
  for (const MemoryPoint& point : rank.memory) most = std::max(most, point.bytes);
  return most;
}

void curve_peaks_at_the_analytic_figure(const Scenario& scenario) {
  const Experiment experiment(scenario);
  const auto stages = memory_by_stage(experiment.scenario, experiment.graph);
  const Simulation simulation = experiment.run();
  for (const RankTimeline& rank : simulation.timeline.ranks) {
    CAPTURE(rank.stage);
    const StageMemory& stage = stages[static_cast<std::size_t>(rank.stage)];
    CHECK(most_of(rank) == nine_digits(stage.total().bytes()));
    CHECK(rank.memory.back().bytes == doctest::Approx(rank.memory.front().bytes));
  }
}

}  // namespace

TEST_CASE("a stack of linear layers peaks at its last weight gradient") {
  // The loss and the last ReLU have given up what they saved: 2 L - 1 inputs are left, the
  // gradients of the layer's output and input, and that of its weight.
  const StageMemory stage = stack_of_linears("none");
  CHECK(stage.peak.held.total().bytes() == nine_digits((2 * kLayers - 1 + 2) * x + g));
  CHECK(stage.peak.held.activations.bytes() == nine_digits((2 * kLayers - 1) * x));
  CHECK(stage.peak.op == "linear");
  CHECK(stage.peak.block == "layer");
  CHECK(stage.peak.pass.pass == PassKind::backward);
}

TEST_CASE("full recompute holds the inputs of all layers and one layer whole") {
  const StageMemory stage = stack_of_linears("full");
  CHECK(stage.peak.held.total().bytes() == nine_digits((kLayers + 2) * x + g));
  CHECK(stage.peak.held.activations.bytes() == nine_digits(kLayers * x));
}

TEST_CASE("the simulated memory curve peaks at the analytic figure, in every schedule") {
  for (const Schedule* schedule : Registry<Schedule>::all()) {
    for (const char* recompute : {"none", "selective", "full"}) {
      CAPTURE(schedule->name);
      CAPTURE(recompute);
      curve_peaks_at_the_analytic_figure(small_transformer(
          std::string(schedule->name).c_str(), schedule->needs.least_chunks, recompute, "zero1"));
    }
  }
}

TEST_CASE("the simulated memory curve peaks at the analytic figure where parameters are gathered") {
  for (const char* recompute : {"none", "full"})
    curve_peaks_at_the_analytic_figure(small_transformer("1f1b", 1, recompute, "zero3"));
}

TEST_CASE("DualPipe holds the parameters of two parts of the model") {
  const auto parameters = [](const char* schedule, int chunks) {
    const Scenario scenario = small_transformer(schedule, chunks, "none", "ddp");
    const OpGraph graph = build(scenario);
    double sum = 0;
    for (int stage = 0; stage < scenario.parallelism.pipeline.stages; ++stage)
      sum += stage_parameters(scenario, graph, stage).total();
    return sum;
  };
  CHECK(parameters("dualpipe", 2) == nine_digits(2 * parameters("1f1b", 1)));
}

TEST_CASE("passes that run in turns hold one micro-batch, of which blocks are of either") {
  const auto scenario = [](bool overlap) {
    return scenario_of(fmt::format(R"(
model: {{name: m, layers: 8, hidden: 1024, heads: 16, vocabulary: 4000, gated_mlp: true,
         rms_norm: true, experts: {{count: 16, top_k: 2, ffn: 512}}}}
cluster: {{base: dgx-h100}}
training: {{global_batch: 32, sequence_length: 2048, precision: bf16}}
parallelism: {{expert: {{degree: 8, overlap: {}}}}}
run: {{steps: 2, warmup: 1}}
)",
                                   overlap));
  };
  const auto held = [&](bool overlap) {
    const Scenario s = scenario(overlap);
    return memory_of_stage(s, build(s), 0).peak.held;
  };
  const Scenario one = scenario(false);
  const OpGraph graph = build(one);
  const double layer = graph.blocks[1].saved(Recompute::none).bytes();
  const double apart = held(false).activations.bytes(), together = held(true).activations.bytes();
  CHECK(apart > 7 * layer);
  CHECK(together >= apart);
  CHECK(together <= apart + 2 * layer);
  curve_peaks_at_the_analytic_figure(scenario(true));
}
