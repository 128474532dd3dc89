// ZeRO 3 beside pipeline stages: how often a stage gathers its parameters and scatters its
// gradients, and what it keeps of them.
//
// Two stages of eight ranks each, m micro-batches: given up after each pass, a stage gathers its P
// parameters 2 m times, and scatters P gradients once (no_sync). Kept till the step's last backward
// pass it gathers them once.
#include <algorithm>

#include <fmt/format.h>

#include "sim/plan/memory/memory.hpp"
#include "sim/plan/program/stage_blocks.hpp"
#include "tests/closed_form/harness.hpp"

using namespace stepsim;

namespace {

constexpr int kMicroBatches = 4;

std::string stages(const std::string& pipeline, const std::string& data) {
  return fmt::format(
      "cluster: {{base: dgx-h100, nodes: 2}}\n"
      "model: {{name: m, layers: 4, hidden: 1024, heads: 16, vocabulary: 32000, bias: false, "
      "tied_embeddings: false}}\n"
      "training: {{sequence_length: 512, global_batch: {}, precision: bf16, gradients: bf16, "
      "gradient_clipping: false}}\n"
      "parallelism: {{pipeline: {{stages: 2{}}}, data: {{sharding: zero3, no_sync: true{}}}}}\n"
      "run: {{steps: 1, warmup: 0}}\n",
      8 * kMicroBatches, pipeline, data);
}

/// Bytes of gathers and of scatters of one rank of a stage, in a step.
struct Traffic {
  double gathered = 0, scattered = 0;
};

Traffic traffic_of(const Experiment& e, std::size_t rank) {
  Traffic sum;
  for (const Task& task : e.plan.program(static_cast<int>(rank)).tasks) {
    if (task.kind != TaskKind::communicate) continue;
    const double bytes = e.plan.operations[task.work].bytes.bytes();
    if (task.channel == Channel::data_gather) sum.gathered += bytes;
    if (task.channel == Channel::data) sum.scattered += bytes;
  }
  return sum;
}

double parameters_of(const Experiment& e, int stage) {
  return stage_parameters(e.scenario, e.graph, stage).total();
}

}  // namespace

TEST_CASE("a stage gathers its parameters for each pass, or once, and scatters gradients once") {
  for (const char* pipeline : {"", ", schedule: gpipe", ", schedule: interleaved, chunks: 2"}) {
    CAPTURE(pipeline);
    for (const int stage : {0, 1}) {
      CAPTURE(stage);
      const std::size_t rank = stage == 0 ? 0 : 8;
      const Experiment given(stages(pipeline, ", reshard_after_forward: all"));
      const double P = parameters_of(given, stage) * 2;
      const Traffic each = traffic_of(given, rank);
      CHECK(each.gathered == nine_digits(2 * kMicroBatches * P));
      CHECK(each.scattered == nine_digits(P));
      const Experiment forward(stages(pipeline, ", reshard_after_forward: none"));
      CHECK(traffic_of(forward, rank).gathered == nine_digits(kMicroBatches * P));
      const Experiment kept(
          stages(pipeline, ", reshard_after_forward: none, reshard_after_backward: false"));
      CHECK(traffic_of(kept, rank).gathered == nine_digits(P));
      CHECK(traffic_of(kept, rank).scattered == nine_digits(P));
    }
  }
}

TEST_CASE("a stage holds what it has gathered: two blocks, or all of its own") {
  const auto gathered = [](const Experiment& e, int stage) {
    for (const MemoryCategory& category : memory_of_stage(e.scenario, e.graph, stage).categories)
      if (category.name == std::string("gathered")) return category.bytes.bytes();
    return 0.0;
  };
  const Experiment given(stages("", ", reshard_after_forward: all"));
  const Experiment kept(stages("", ", reshard_after_forward: none, reshard_after_backward: false"));
  for (const int stage : {0, 1}) {
    CAPTURE(stage);
    // The largest block of either stage is the embedding or the head; its gradients are whole.
    double largest = 0;
    for (const std::size_t index : blocks_of(given.scenario, given.graph, stage, 0))
      largest = std::max(largest, given.graph.blocks[index].parameters());
    CHECK(gathered(given, stage) == nine_digits(2 * largest * 2 + largest * 2));
    CHECK(gathered(kept, stage) == nine_digits(parameters_of(kept, stage) * 2 + largest * 2));
  }
}
