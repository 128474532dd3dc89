// Layers at both ends that stay in bf16: of so many layers the others alone have casts, products in
// fp8 and quantised copies of their weights.
#include <fmt/format.h>

#include "sim/plan/memory/memory.hpp"
#include "sim/plan/program/optimizer.hpp"
#include "tests/closed_form/harness.hpp"

using namespace stepsim;

namespace {

/// Layers of width 1024 with 12 h^2 elements of linear layers each.
Scenario gpt(const std::string& training, const std::string& parallelism = "", int layers = 5) {
  return scenario_of(fmt::format(R"(
model: {{name: m, layers: {2}, hidden: 1024, heads: 8, vocabulary: 512, bias: false}}
cluster: {{name: c, gpu: b200, gpus_per_node: 2, intra_node: nvlink5}}
training: {{sequence_length: 512, global_batch: 2, attention: cudnn, {0}}}
parallelism: {{{1}}}
)",
                                 training, parallelism, layers));
}

constexpr double kLayer = 12.0 * 1024 * 1024;

struct Products {
  int bf16 = 0, narrow = 0, casts = 0;
};
/// Products and casts of a block's forward pass.
Products products_of(const Block& block) {
  Products products;
  for (const Op& op : block.dag.ops) {
    for (const Item& item : op.forward) {
      const auto* launch = std::get_if<Launch>(&item);
      if (launch == nullptr) continue;
      products.casts += launch->name.find("cast") != std::string::npos;
      if (const auto* gemm = std::get_if<Gemm>(&launch->work))
        ++(needs_scales(gemm->precision) ? products.narrow : products.bf16);
    }
  }
  return products;
}

double bytes_of(const StageMemory& memory, const std::string& name) {
  for (const MemoryCategory& category : memory.categories)
    if (category.name == name) return category.bytes.bytes();
  return 0;
}

}  // namespace

TEST_CASE("the first and last layers multiply in bf16, and cast nothing") {
  for (const std::string precision : {"precision: fp8, fp8_scaling: mxfp8", "precision: nvfp4"}) {
    CAPTURE(precision);
    const OpGraph graph = build(gpt(precision + ", bf16_layers: {first: 1, last: 2}"));
    REQUIRE(graph.chain.size() == 7);  // embedding, five layers, head
    for (std::size_t layer = 0; layer < 5; ++layer) {
      const Block& block = graph.blocks[graph.chain[layer + 1]];
      const bool stays = layer == 0 || layer >= 3;
      CHECK(block.name == (stays ? "bf16 layer" : "layer"));
      const Products products = products_of(block);
      CHECK(products.bf16 == (stays ? 4 : 0));
      CHECK(products.narrow == (stays ? 0 : 4));
      CHECK((products.casts == 0) == stays);
      CHECK(block.quantised() == (stays ? 0 : kLayer));
    }
    CHECK(graph.model_flops.flops() == build(gpt(precision)).model_flops.flops());
  }
}

TEST_CASE("layers in bf16 have no quantised copies, and are gathered in bf16") {
  const std::string mx = "precision: fp8, fp8_scaling: mxfp8, fp8_parameters: true";
  const std::string zero1 = "data: {sharding: zero1}";
  const Scenario all = gpt(mx, zero1), two = gpt(mx + ", bf16_layers: {}", zero1);
  const double copies = bytes_of(memory_of_stage(all, build(all), 0), "fp8 weights");
  CHECK(bytes_of(memory_of_stage(two, build(two), 0), "fp8 weights") ==
        nine_digits(copies * 3 / 5));
  CHECK(quantised_elements(two, build(two), 0).total() == 3 * kLayer);
  // Stages of a pipeline have those that fall to them, here three of six layers each.
  const Scenario stages =
      gpt("precision: nvfp4, bf16_layers: {first: 0, last: 2}", "pipeline: {stages: 2}", 6);
  CHECK(quantised_elements(stages, build(stages), 0).total() == 3 * kLayer);
  CHECK(quantised_elements(stages, build(stages), 1).total() == kLayer);
}
