// Adapters beside experts: one for all of a rank, over the rows that these get.
#include <algorithm>

#include <fmt/format.h>

#include "sim/ops/blocks.hpp"
#include "sim/ops/layer/layers.hpp"
#include "sim/ops/style/style.hpp"
#include "tests/closed_form/harness.hpp"

using namespace stepsim;

namespace {

// Tokens of a rank, width, rank, widths of the experts' MLPs and of queries, keys and values.
constexpr double T = 2 * 256, h = 512, r = 8, ffn = 256, qkv = 3 * h;
constexpr double kTopK = 2, kLocal = 2;

std::string adapted(const std::string& lora, const std::string& expert = "degree: 4") {
  return fmt::format(R"(
model: {{name: m, layers: 4, hidden: 512, heads: 8, vocabulary: 8192, bias: false,
        experts: {{count: 8, top_k: 2, ffn: 256}}}}
cluster: {{name: c, gpu: h100, gpus_per_node: 8, intra_node: nvlink4}}
training:
  {{sequence_length: 256, global_batch: 16, micro_batch: 2, precision: bf16, attention: flash2{}}}
parallelism: {{expert: {{{}}}}}
)",
                     lora.empty() ? "" : ", lora: {" + lora + "}", expert);
}

Block layer_of(const std::string& yaml) {
  const OpGraph graph = build(scenario_of(yaml));
  const auto found = std::ranges::find(graph.blocks, std::string("layer"), &Block::name);
  REQUIRE(found != graph.blocks.end());
  return *found;
}

const Op& op_named(const Block& block, const std::string& name) {
  const auto found = std::ranges::find(block.dag.ops, name, &Op::name);
  REQUIRE(found != block.dag.ops.end());
  return *found;
}

double product_flops(const Items& items) {
  double sum = 0;
  for (const Item& item : items) {
    const auto* launch = std::get_if<Launch>(&item);
    if (launch == nullptr) continue;
    if (const auto* gemm = std::get_if<Gemm>(&launch->work)) sum += gemm->flops().flops();
  }
  return sum;
}

double frozen_in(const OpGraph& graph) {
  double sum = 0;
  for (const std::size_t block : graph.chain) sum += graph.blocks[block].frozen_parameters();
  return sum;
}

}  // namespace

TEST_CASE("the first layer has experts like the others, unless leading ones are dense") {
  for (const char* model : {"mixtral-8x7b", "{base: mixtral-8x7b, experts: {dense_layers: 1}}"}) {
    CAPTURE(model);
    const std::string text = fmt::format(
        "model: {}\ncluster: {{gpu: h100}}\ntraining: {{sequence_length: 512, global_batch: 1, "
        "attention: flash2, lora: {{rank: 8}}}}\n",
        model);
    const OpGraph graph = build(scenario_of(text));
    CHECK(frozen_in(graph) == graph.total_parameters);
  }
}

TEST_CASE("experts have one adapter a layer on each rank, and no gradients of their own") {
  const Block plain = layer_of(adapted("")), layer = layer_of(adapted("rank: 8"));
  const double attention = (h + qkv) + (h + h), mlp = (h + ffn) + (ffn + h);
  CHECK(layer.parameters() == r * (attention + mlp));
  CHECK(layer.frozen_parameters() == plain.parameters());
  const Op& experts = op_named(layer, "experts");
  CHECK(experts.frozen.size() == 2 * kLocal);
  CHECK(product_flops(experts.backward) == product_flops(experts.forward));
  CHECK(experts.kept_for_weights == Bytes{0});
  CHECK(experts.saved < op_named(plain, "experts").saved);
}

TEST_CASE("experts' adapters multiply the rows that the experts of a rank get") {
  const Block layer = layer_of(adapted("rank: 8"));
  const double rows = T * kTopK;
  for (const auto& [name, widths] :
       {std::pair{"experts up adapter", h + ffn}, std::pair{"experts down adapter", ffn + h}}) {
    CAPTURE(name);
    const Op& adapter = op_named(layer, name);
    CHECK(product_flops(adapter.forward) == 2 * rows * r * widths);
    CHECK(product_flops(adapter.backward) == 4 * rows * r * widths);
    CHECK(adapter.expert);
    for (const Item& item : adapter.backward) {
      if (const auto* ready = std::get_if<GradientReady>(&item)) CHECK(ready->expert);
    }
  }
}

TEST_CASE("adapters of attention alone leave the experts without any") {
  const Block layer = layer_of(adapted("rank: 8, target_modules: [linear_qkv, linear_proj]"));
  CHECK(layer.parameters() == r * ((h + qkv) + (h + h)));
  CHECK(std::ranges::none_of(
      layer.dag.ops, [](const Op& op) { return op.adapter && op.name.starts_with("experts"); }));
}

TEST_CASE("operands of frozen products in fp8 are written once, by rows") {
  Scenario scenario = scenario_of(adapted("rank: 8"));
  scenario.training.precision = Precision::fp8;
  const OpGraph graph = build(scenario);
  const Block& layer = *std::ranges::find(graph.blocks, std::string("layer"), &Block::name);
  const auto moved = [](const Items& items, const std::string& name) {
    double bytes = 0;
    for (const Item& item : items) {
      const auto* launch = std::get_if<Launch>(&item);
      if (launch != nullptr && launch->name == name)
        bytes += std::get<MemoryBound>(launch->work).bytes.bytes();
    }
    return bytes;
  };
  const double rows = T * kTopK, each = 2 + 1;
  const Op& experts = op_named(layer, "experts");
  CHECK(moved(experts.forward, "experts up cast") == each * rows * h);
  CHECK(moved(experts.forward, "experts down cast") == each * rows * ffn);
  CHECK(moved(experts.backward, "experts down gradient cast") == each * rows * h);
  CHECK(moved(op_named(layer, "qkv").forward, "qkv cast") == each * T * h);
  const Style style = style_of(scenario.training);
  const Op whole = replicated_linear(pass_of(scenario, style), "whole", 512, 256, true);
  CHECK(moved(whole.backward, "whole gradient cast") == each * T * 256);
}
