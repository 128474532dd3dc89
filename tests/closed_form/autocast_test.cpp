// Parameters that are wider than products: under torch.autocast, and in FSDP's shards.
//
// A layer of hidden size h with fused queries, keys and values and an MLP of 4 h has 12 h^2 weights
// in products (norms are not), the head V h. Autocast reads 4 B and writes 2 B of each in a forward
// pass, and casts their gradients back. It keeps the 2 B for the backward pass; what is computed
// again keeps none, but those of the forward pass are there until it ends.
#include <fmt/format.h>

#include "sim/plan/memory/memory.hpp"
#include "sim/plan/optimizer_rule.hpp"
#include "tests/closed_form/harness.hpp"

using namespace stepsim;

namespace {

constexpr double s = 256, h = 512, V = 8192, layers = 4;
constexpr double of_products = layers * 12 * h * h + V * h;

Scenario gpt(const std::string& training, const std::string& data = "ddp", int gpus = 1) {
  return scenario_of(fmt::format(R"(
model: {{name: m, layers: 4, hidden: 512, heads: 8, ffn: 2048, vocabulary: 8192, dropout: false,
  bias: false, gated_mlp: false, tied_embeddings: true}}
cluster: {{name: c, gpu: h100, gpus_per_node: {}, intra_node: nvlink4}}
training: {{sequence_length: 256, global_batch: {}, micro_batch: 1, attention: flash3,
  fusion: none, {}}}
parallelism: {{data: {{sharding: {}}}}}
run: {{steps: 1, warmup: 0}}
)",
                                 gpus, gpus, training, data));
}

/// Bytes of all kernels whose names end like that, forward and backward.
double moved(const Scenario& scenario, const std::string& end) {
  const OpGraph graph = build(scenario);
  double bytes = 0;
  for (const std::size_t index : graph.chain) {
    for (const Op& op : graph.blocks[index].dag.ops) {
      for (const Items* items : {&op.forward, &op.backward}) {
        for (const Item& item : *items) {
          const auto* launch = std::get_if<Launch>(&item);
          if (launch != nullptr && launch->name.ends_with(end))
            bytes += std::get<MemoryBound>(launch->work).bytes.bytes();
        }
      }
    }
  }
  return bytes;
}

double category(const StageMemory& memory, const std::string& name) {
  for (const MemoryCategory& c : memory.categories) {
    if (c.name == name) return c.bytes.bytes();
  }
  return 0;
}

StageMemory memory_of(const Scenario& scenario) {
  return memory_of_stage(scenario, build(scenario), 0);
}

}  // namespace

TEST_CASE("autocast casts each weight of a product, and its gradient back") {
  const Scenario wide = gpt("autocast: true");
  CHECK(moved(wide, "weight cast") == nine_digits(6 * of_products));
  CHECK(moved(wide, "weight gradient cast") == nine_digits(6 * of_products));
  CHECK(moved(gpt("precision: bf16"), "weight cast") == 0);
}

TEST_CASE("under autocast parameters, gradients and moments are fp32, without a second copy") {
  const Scenario wide = gpt("autocast: true");
  CHECK(wide.training.gradients == Precision::fp32);
  const BytesPerParameter each =
      bytes_per_parameter(wide.training, wide.parallelism.data.sharding, 1);
  CHECK(each.parameters == 4);
  CHECK(each.gradients == 4);
  CHECK(each.optimizer == 8);
}

TEST_CASE("copies of weights wait for the backward pass") {
  const OpGraph graph = build(gpt("autocast: true"));
  double copies = 0;
  for (const std::size_t index : graph.chain) copies += graph.blocks[index].weight_copies().bytes();
  CHECK(copies == nine_digits(2 * of_products));
  const Block& layer = graph.blocks[graph.chain[1]];
  CHECK(layer.saved(Recompute::full).bytes() == nine_digits(4 * s * h));  // what enters is fp32
}

TEST_CASE("FSDP's shards are fp32, and what is gathered is not") {
  const Scenario mixed = gpt("parameters: fp32", "zero3", 8);
  CHECK(mixed.training.gradients == Precision::bf16);
  const BytesPerParameter each =
      bytes_per_parameter(mixed.training, mixed.parallelism.data.sharding, 8);
  CHECK(each.parameters == 0.5);
  CHECK(each.gradients == 0.5);  // cast behind the reduction
  CHECK(each.optimizer == 1);
  const auto gathered = [](const Scenario& scenario) {
    const OpGraph graph = build(scenario);
    return gathered_bytes(scenario, graph, graph.chain).bytes();
  };
  const Scenario narrow = gpt("precision: bf16", "zero3", 8);
  CHECK(gathered(mixed) == nine_digits(gathered(narrow)));
  // Autocast narrows behind the gather: twice the bytes, and twice those of gradients.
  CHECK(gathered(gpt("autocast: true", "zero3", 8)) == nine_digits(2 * gathered(narrow)));
}

TEST_CASE("the update of wide shards reads no copy and writes none") {
  const Scenario mixed = gpt("parameters: fp32", "zero3", 8);
  const Scenario narrow = gpt("precision: bf16", "zero3", 8);
  CHECK_FALSE(keeps_master_weights(mixed.training));
  CHECK(keeps_master_weights(narrow.training));
  // Adam reads gradient, weight and two moments of fp32, and writes the last three.
  double each = 0;
  for (const UpdateSweep& sweep : sweeps_of(mixed.training))
    each += sweep_bytes(sweep, mixed.training);
  CHECK(each == 28);
  CHECK(category(memory_of(mixed), "parameters") ==
        nine_digits(2 * category(memory_of(narrow), "parameters")));
}
