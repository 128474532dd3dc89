// A vision tower before a decoder: FLOPs, what is frozen, stages, by hand.
#include <numeric>

#include <fmt/format.h>

#include "sim/ops/blocks.hpp"
#include "tests/closed_form/harness.hpp"

using namespace stepsim;

namespace {

/// Two images of 56 x 56 pixels: 16 patches each, 4 tokens each; a batch of 3 sequences.
std::string small(const std::string& training, const std::string& parallelism = "",
                  const std::string& cluster = "nodes: 1, gpus_per_node: 1") {
  return fmt::format(R"(
model: {{layers: 4, hidden: 64, heads: 4, ffn: 96, vocabulary: 1024, positions: 0, bias: false, dropout: false,
        tied_embeddings: false,
        tower: {{layers: 2, hidden: 32, heads: 2, ffn: 48, patch: 14, frames: 1, merge: 2, projector: [128],
                rms_norm: true, projector_norm: rms}}}}
cluster: {{name: c, gpu: h100, intra_node: nvlink4, {}}}
training: {{sequence_length: 20, global_batch: 6, micro_batch: 3, images: {{per_sequence: 2, height: 56, width: 56}},
           {}}}
parallelism: {{{}}}
)",
                     cluster, training, parallelism);
}

constexpr double kPatches = 6 * 2 * 16;  // of a step
constexpr double kMerged = 6 * 2 * 4;

/// Forward products and attention of the tower and the projector in one step.
double tower_flops() {
  const double patches = 2.0 * kPatches * (14 * 14 * 3) * 32;
  const double linears = 2.0 * kPatches * (4.0 * 32 * 32 + 2.0 * 32 * 48);
  const double attention = 4.0 * kPatches * 16 * 32;
  return patches + 2 * (linears + attention);
}
double projector_flops() { return 2.0 * kMerged * (128.0 * 128 + 128 * 64); }

constexpr double kTokens = 6 * 20;

/// Forward and backward; attention has no weights that could be frozen.
double decoder_attention() { return 3 * 4 * 4 * kTokens * 20 * 64; }
double decoder_flops() {
  const double layer = 2 * kTokens * (4.0 * 64 * 64 + 2.0 * 64 * 96);
  return 3 * (4 * layer + 2 * kTokens * 64 * 1024) + decoder_attention();
}

double flops_of(const std::string& yaml) { return build(scenario_of(yaml)).model_flops.flops(); }

double bytes_of(const StageMemory& memory, const std::string& category) {
  for (const MemoryCategory& one : memory.categories) {
    if (one.name == category) return one.bytes.bytes();
  }
  return 0;
}

}  // namespace

TEST_CASE("a trained tower counts three times, a frozen one once, its gradients where they pass") {
  const double decoder = decoder_flops(), tower = tower_flops(), projector = projector_flops();
  CHECK(flops_of(small("frozen: []")) == nine_digits(decoder + 3 * tower + 3 * projector));
  CHECK(flops_of(small("frozen: [tower]")) == nine_digits(decoder + tower + 3 * projector));
  CHECK(flops_of(small("frozen: [projector]")) == nine_digits(decoder + 3 * tower + 2 * projector));
  CHECK(flops_of(small("frozen: [tower, projector]")) == nine_digits(decoder + tower + projector));
  CHECK(flops_of(small("frozen: [tower, decoder]")) ==
        nine_digits((decoder * 2 + decoder_attention()) / 3 + tower + 3 * projector));
}

TEST_CASE("work of a tower that ranks repeat counts once") {
  const std::string ranks = "nodes: 1, gpus_per_node: 2";
  const double one = flops_of(small("frozen: []"));
  for (const char* split : {"tensor: 2", "tensor: 2, split_tower: true"})
    CHECK(flops_of(small("frozen: []", split, ranks)) == nine_digits(one));
}

TEST_CASE("what is frozen has no optimizer state, and what nothing needs keeps nothing") {
  const auto memory_of = [](const std::string& frozen) {
    const Experiment e(small("precision: bf16, frozen: " + frozen));
    return memory_of_stage(e.scenario, e.graph, 0);
  };
  const StageMemory trained = memory_of("[]"), frozen = memory_of("[tower, projector]");
  const auto model = scenario_of(small("frozen: []")).model;
  const auto& t = std::get<Transformer>(model.shape);
  const double of_tower = parameter_count(*t.tower, t.hidden);
  // Adam's moments and the master weights.
  CHECK(bytes_of(trained, "optimizer") - bytes_of(frozen, "optimizer") ==
        nine_digits(12 * of_tower));
  CHECK(bytes_of(trained, "gradients") - bytes_of(frozen, "gradients") ==
        nine_digits(2 * of_tower));
  CHECK(bytes_of(trained, "parameters") == nine_digits(bytes_of(frozen, "parameters")));
  const OpGraph graph = build(scenario_of(small("frozen: [tower, projector]")));
  for (const Block& block : graph.blocks) {
    if (block.place != BlockPlace::front) continue;
    CHECK(block.saved(Recompute::none) == Bytes{0});
    CHECK(block.saved(Recompute::full) == Bytes{0});
    CHECK_FALSE(block.has_gradient());
  }
}

TEST_CASE("a trained projector before a frozen tower has no gradient of its input") {
  const OpGraph graph = build(scenario_of(small("frozen: [tower]")));
  const Block* projector = nullptr;
  for (const Block& block : graph.blocks) {
    if (block.name == "projector") projector = &block;
  }
  REQUIRE(projector != nullptr);
  // A norm of the patches, merged patches, two linear layers with an activation between them.
  const std::vector<const Op*> ops = projector->order();
  REQUIRE(ops.size() == 5);
  for (const Item& item : ops[0]->backward) {
    if (const auto* launch = std::get_if<Launch>(&item)) CHECK(launch->for_weights);
  }
  CHECK(projector->parameters() == 32 + 129 * 128 + 129 * 64);
}

TEST_CASE("the tower stays on the first stage, and layers are dealt as without it") {
  const Experiment e(small("frozen: []", "pipeline: {stages: 2}", "nodes: 1, gpus_per_node: 2"));
  CHECK(e.graph.chain.size() == 1 + 2 + 1 + 1 + 4 + 1);
  const StageMemory first = memory_of_stage(e.scenario, e.graph, 0);
  const double layer = 4.0 * 64 * 64 + 2.0 * 64 * 96 + 2 * 64;
  const auto& t = std::get<Transformer>(e.scenario.model.shape);
  const double of_tower = parameter_count(*t.tower, t.hidden);
  CHECK(bytes_of(first, "optimizer") == nine_digits(12 * (of_tower + 1024 * 64 + 2 * layer)));
}

TEST_CASE("windows of patches attend to themselves alone") {
  const auto attention = [](const std::string& window) {
    std::string yaml = small("frozen: []");
    yaml.insert(yaml.find("merge: 2"), window);
    double sum = 0;
    const OpGraph graph = build(scenario_of(yaml));
    for (const std::size_t block : graph.chain) {
      if (graph.blocks[block].place == BlockPlace::front)
        sum += graph.blocks[block].forward_flops().attention.flops();
    }
    return sum;
  };
  const double all = attention(""),
               mixed = attention("window: {tokens: 4, kind: chunk, full_every: 2}, ");
  CHECK(mixed == nine_digits(all * (1 + 4.0 / 16) / 2));
}

namespace {

double tower_attention(const OpGraph& graph) {
  double sum = 0;
  for (const std::size_t block : graph.chain) {
    if (graph.blocks[block].place == BlockPlace::front)
      sum += graph.blocks[block].forward_flops().attention.flops();
  }
  return sum;
}

/// Pairs of queries and keys that fused kernels of one layer compute, of a head and an image.
double pairs_of_kernel(const OpGraph& graph) {
  for (const Block& block : graph.blocks) {
    if (block.place != BlockPlace::front) continue;
    for (const Op& op : block.dag.ops) {
      for (const Item& item : op.forward) {
        const auto* launch = std::get_if<Launch>(&item);
        const auto* kernel =
            launch == nullptr ? nullptr : std::get_if<FusedAttention>(&launch->work);
        if (kernel != nullptr)
          return static_cast<double>(kernel->batch) / (3 * 2) * kernel->pairs();
      }
    }
  }
  return 0;
}

}  // namespace

TEST_CASE("documents of words do not narrow a tower") {
  const OpGraph whole = build(scenario_of(small("frozen: [], attention: flash2")));
  const OpGraph packed =
      build(scenario_of(small("frozen: [], attention: flash2, packing: {mean: 5}")));
  CHECK(tower_attention(packed) == tower_attention(whole));
  CHECK(pairs_of_kernel(packed) == 16 * 16);
  // Of the decoder's four layers each token sees 5 of 20.
  const double saved = whole.model_flops.flops() - packed.model_flops.flops();
  CHECK(saved == nine_digits(decoder_attention() * (1 - 5.0 / 20)));
}

TEST_CASE("windows at the edges of an image have the patches that are left") {
  const auto graph_of = [](int height, int width) {
    std::string yaml = small("frozen: [], attention: flash2");
    const auto replace = [&](const std::string& from, const std::string& to) {
      yaml.replace(yaml.find(from), from.size(), to);
    };
    replace("height: 56, width: 56", fmt::format("height: {}, width: {}", height, width));
    replace("sequence_length: 20", "sequence_length: 512");
    replace("merge: 2", "merge: 2, window: {tokens: 64, kind: chunk}");
    return build(scenario_of(yaml));
  };
  // Sides of 22 patches are 8 + 8 + 6, of 16 and 28 they are 8 + 8 and 8 + 8 + 8 + 4.
  const double square = (64.0 + 64 + 36) * (64 + 64 + 36);
  const double wide = (64.0 + 64) * (64 + 64 + 64 + 16);
  for (const auto& [height, width, pairs] :
       {std::tuple{308, 308, square}, std::tuple{224, 392, wide}}) {
    CAPTURE(height);
    const OpGraph graph = graph_of(height, width);
    CHECK(tower_attention(graph) == nine_digits(2 * 3 * 2 * 4 * 32 * pairs));
    CHECK(pairs_of_kernel(graph) == nine_digits(pairs));
  }
}
