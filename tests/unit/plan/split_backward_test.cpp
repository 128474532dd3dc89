// The two halves of a backward pass: together they do what the whole one does.
#include <algorithm>
#include <map>
#include <string>

#include <doctest/doctest.h>

#include "sim/ops/op_graph.hpp"
#include "sim/plan/group/groups.hpp"
#include "sim/plan/pass/piece.hpp"
#include "sim/plan/pass/segment.hpp"
#include "sim/plan/pass/segment_key.hpp"
#include "sim/plan/program/plan_draft.hpp"
#include "sim/plan/program/stage_blocks.hpp"
#include "sim/plan/program/stage_shape.hpp"
#include "sim/scenario/load.hpp"
#include "tests/source_folder.hpp"

using namespace stepsim;

namespace {

/// Kernels by cause and name, collectives and waits of a segment.
struct Content {
  std::map<std::string, int> kernels;
  std::map<std::string, int> collectives;
  int recomputed = 0;
};

struct Bench {
  explicit Bench(const std::string& training, const std::string& parallelism = "tensor: 2")
      : scenario(parse_scenario(
            "cluster: {name: c, gpu: a100-80, gpus_per_node: 8, intra_node: nvlink3}\n"
            "model: {name: t, layers: 2, hidden: 512, heads: 4, vocabulary: 4000}\n"
            "training: {global_batch: 8, sequence_length: 256, " +
                training +
                "}\n"
                "parallelism: {" +
                parallelism + "}\n",
            "bench.yaml", Library{{source_folder()}})),
        graph(build(scenario)),
        plan(scenario.cluster) {}

  Content content(PassKind pass, Reduction reduction = Reduction::none) {
    PlanDraft draft{scenario, graph, plan};
    StageShape shape;
    shape.of(channel_along(Axis::tensor)) = {2, 1, 1};
    shape.of(Channel::data) = {4, 1, 1};
    const auto blocks = blocks_of(scenario, graph, 0, 0);
    Content content;
    for (const Piece& piece : segment_of(draft, shape, blocks, pass, reduction)) {
      if (const auto* chain = std::get_if<ChainPiece>(&piece)) add(content, *chain);
      if (const auto* start = std::get_if<StartPiece>(&piece)) {
        const Operation& operation = plan.operations[start->operation];
        ++content
              .collectives[std::string(name_of(start->channel)) + " " + plan.names[operation.name]];
      }
    }
    return content;
  }

  void add(Content& content, const ChainPiece& piece) const {
    for (const Kernel& kernel : plan.chains[piece.chain].kernels) {
      ++content.kernels[plan.names[kernel.name]];
      content.recomputed += kernel.cause == Cause::recompute;
    }
  }

  const Scenario scenario;
  const OpGraph graph;
  Plan plan;
};

std::map<std::string, int> sum(std::map<std::string, int> a, const std::map<std::string, int>& b) {
  for (const auto& [name, count] : b) a[name] += count;
  return a;
}

}  // namespace

TEST_CASE("the halves of a backward pass have its kernels and collectives, each once") {
  for (const char* parallelism : {"tensor: 2", "tensor: 2, sequence: true",
                                  "tensor: 2, sequence: true, overlap_tensor: false"}) {
    CAPTURE(parallelism);
    Bench bench("recompute: selective, attention: flash2", parallelism);
    const Content whole = bench.content(PassKind::backward, Reduction::buckets);
    const Content inputs = bench.content(PassKind::input_gradient, Reduction::buckets);
    const Content weights = bench.content(PassKind::weight_gradient, Reduction::buckets);
    CHECK(sum(inputs.kernels, weights.kernels) == whole.kernels);
    CHECK(sum(inputs.collectives, weights.collectives) == whole.collectives);
    CHECK(inputs.recomputed == whole.recomputed);
    CHECK(weights.recomputed == 0);
  }
}

TEST_CASE("gradients of weights, norms and biases, and their reduction, are the second half") {
  Bench bench("recompute: none", "tensor: 2, sequence: true");
  const Content inputs = bench.content(PassKind::input_gradient, Reduction::buckets);
  const Content weights = bench.content(PassKind::weight_gradient, Reduction::buckets);
  for (const char* name : {"qkv wgrad", "projection wgrad", "mlp up wgrad", "mlp down wgrad",
                           "attention norm wgrad", "embedding gradient"}) {
    CAPTURE(name);
    CHECK(weights.kernels.count(name) == 1);
    CHECK(inputs.kernels.count(name) == 0);
  }
  CHECK(inputs.kernels.count("qkv dgrad") == 1);
  CHECK(weights.kernels.count("qkv dgrad") == 0);
  // The input of a column-parallel layer is gathered for its weight gradient, the input gradient
  // reduced where it arises.
  CHECK(weights.collectives.count("tensor all_gather") == 1);
  CHECK(weights.collectives.count("tensor reduce_scatter") == 0);
  CHECK(inputs.collectives.count("tensor reduce_scatter") == 1);
  CHECK(weights.collectives.count("data all_reduce") == 1);
  CHECK(inputs.collectives.count("data all_reduce") == 0);
}

TEST_CASE("after the first half a GPT layer keeps 32 sbh for its weights, and norms and biases") {
  // Qi et al. 2023, table 1: the inputs (14 sbh) and output gradients (18 sbh) of the four linear
  // layers, 16 bit. Beside these, inputs and output gradients of two norms (8 sbh), and the two
  // output gradients that biases are summed from (4 sbh).
  Bench bench("recompute: none, precision: bf16", "tensor: 1");
  const auto layer = std::find_if(bench.graph.blocks.begin(), bench.graph.blocks.end(),
                                  [](const Block& block) { return block.name == "layer"; });
  REQUIRE(layer != bench.graph.blocks.end());
  const double sbh = 256 * 512;
  CHECK(layer->kept_for_weights().bytes() == doctest::Approx((32 + 8 + 4) * sbh));
}
