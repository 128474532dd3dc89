// Diffusion transformers: FLOPs, parameters on a rank and what conditions layers, by hand.
#include <fmt/format.h>

#include "sim/ops/blocks.hpp"
#include "tests/closed_form/harness.hpp"

using namespace stepsim;

namespace {

OpGraph graph_of(const std::string& model, const std::string& training,
                 const std::string& parallelism = "", int gpus = 1) {
  return build(scenario_of(fmt::format(R"(
model: {}
cluster: {{name: c, gpu: h100, gpus_per_node: {}, intra_node: nvlink4}}
training: {{global_batch: 8, precision: bf16, {}}}
parallelism: {{{}}}
)",
                                       model, gpus, training, parallelism)));
}

double parameters_of(const OpGraph& graph) {
  double sum = 0;
  for (const std::size_t block : graph.chain) sum += graph.blocks[block].parameters();
  return sum;
}

}  // namespace

TEST_CASE("DiT-XL/2 multiplies and adds as often as its authors say") {
  // 118.64 Gflops, by which they mean multiply-adds: arXiv 2212.09748, table 4.
  const OpGraph graph = graph_of("dit-xl-2", "sequence_length: 256, micro_batch: 8");
  const double forward = graph.model_flops.flops() / 3 / 8;
  CHECK(forward / 2 == doctest::Approx(118.64e9).epsilon(5e-4));
}

TEST_CASE("Wan's FLOPs are those that NVIDIA counts, and its conditions'") {
  // NVIDIA-NeMo/Megatron-Bridge src/megatron/bridge/diffusion/models/wan/wan_provider.py.
  const double s = 4096, c = 512, h = 5120, ffn = 13824, text = 4096, batch = 8;
  const double self = 8 * s * h * h + 4 * s * s * h;
  const double cross = 4 * s * h * h + 4 * c * h * h + 4 * s * c * h;
  const double ends = 2 * s * 64 * h + 2 * c * (text * h + h * h) + 2 * s * h * 64;
  const double counted = 40 * (self + cross + 4 * s * h * ffn) + ends;
  const double conditions = 2 * (256 * h + h * h + 6 * h * h);
  const double all = 3 * batch * (counted + conditions);
  CHECK(graph_of("wan2.1-14b", "sequence_length: 4096").model_flops.flops() == nine_digits(all));
  // Ranks of a tensor or context group do not count twice what they all compute.
  for (const char* split : {"tensor: 2", "tensor: 2, sequence: true", "context: 2"})
    CHECK(graph_of("wan2.1-14b", "sequence_length: 4096", split, 2).model_flops.flops() ==
          nine_digits(all));
}

TEST_CASE("FLUX has two streams, then one") {
  const double s = 4096, t = 512, n = s + t, h = 3072, batch = 8;
  const double attention = 4 * n * n * h;
  const double joint = 2 * n * 12 * h * h + attention + 2 * 12 * h * h;
  const double single = 2 * n * 12 * h * h + attention + 2 * 3 * h * h;
  const double conditions = 2 * (2 * 256 * h + 768 * h + 3 * h * h + 2 * h * h);
  const double ends = 4 * s * 64 * h + 2 * t * 4096 * h;
  CHECK(graph_of("flux.1-dev", "sequence_length: 4096").model_flops.flops() ==
        nine_digits(3 * batch * (19 * joint + 38 * single + conditions + ends)));
}

TEST_CASE("blocks have the parameters of the closed form, each once") {
  for (const char* model : {"dit-xl-2", "flux.1-dev", "wan2.1-14b"}) {
    CAPTURE(model);
    const OpGraph graph = graph_of(model, "sequence_length: 256");
    CHECK(parameters_of(graph) == graph.total_parameters);
  }
}

TEST_CASE("eager PyTorch has kernels for shift, scale and gate that a compiler joins to others") {
  const auto kernels = [](const std::string& fusion) {
    const OpGraph graph =
        graph_of("dit-xl-2", "sequence_length: 256, micro_batch: 8, fusion: " + fusion);
    double bytes = 0;
    for (const Block& block : graph.blocks) {
      if (block.name != "layer") continue;
      for (const Op& op : block.dag.ops) {
        if (!op.name.ends_with("gate") && !op.name.ends_with("norm modulation")) continue;
        for (const Item& item : op.forward)
          bytes += std::get<MemoryBound>(std::get<Launch>(item).work).bytes.bytes();
      }
    }
    return bytes;
  };
  const double one = 2.0 * 8 * 256 * 1152;
  // Two modulations of a product and a sum, two gates of a product: two tensors each.
  CHECK(kernels("none") == nine_digits((2 * 4 + 2 * 2) * one));
  CHECK(kernels("compiled") == 0);
}

TEST_CASE("all of FLUX's layers is part of a module, whose graph launches it") {
  const OpGraph graph = graph_of("flux.1-dev", "sequence_length: 256");
  int mlps = 0;
  for (const Block& block : graph.blocks) {
    if (!block.recomputable) continue;
    CAPTURE(block.name);
    for (const Op& op : block.dag.ops) {
      CAPTURE(op.name);
      REQUIRE(op.module);
      mlps += op.module == GraphModule::mlp ? 1 : 0;
      if (op.name.find("mlp up") != std::string::npos && block.name == "joint layer")
        CHECK(op.module == GraphModule::mlp);
      if (op.core_attention) CHECK(op.module == GraphModule::attn);
    }
  }
  CHECK(mlps > 0);
}

TEST_CASE("norms over all heads of queries and keys have a weight for each number") {
  const auto parameters = [](const std::string& norms) {
    const OpGraph graph = graph_of(
        "{name: m, layers: 3, hidden: 256, heads: 8, kv_heads: 2, vocabulary: 512" + norms + "}",
        "sequence_length: 256");
    CHECK(parameters_of(graph) == graph.total_parameters);
    return graph.total_parameters;
  };
  const double none = parameters("");
  CHECK(parameters(", qk_norm: true") - none == 3 * 2 * 32);
  CHECK(parameters(", qk_norm: true, wide_qk_norm: true") - none == 3 * (8 + 2) * 32);
}
