// Gated activations that keep their input in fp8: of two inputs in 16 bits a byte each is left, and
// casts read and write three bytes a number, forward and backward.
#include <fmt/format.h>

#include "tests/closed_form/harness.hpp"

using namespace stepsim;

namespace {

constexpr double kTokens = 2048, kFfn = 1024, kLayers = 4;

Scenario decoder(const char* model, const char* more) {
  return scenario_of(fmt::format(
      "cluster: {{name: c, gpu: a100-80, nodes: 1, gpus_per_node: 1, "
      "intra_node: {{bandwidth: 200 GB/s, latency: 3 us}}}}\n"
      "model: {{name: m, layers: 4, hidden: 512, heads: 8, ffn: 1024, vocabulary: 32000, "
      "gated_mlp: true{}}}\n"
      "training: {{sequence_length: 2048, global_batch: 1, precision: bf16, attention: "
      "flash2{}}}\n",
      model, more));
}

double saved(const Scenario& scenario) {
  const OpGraph graph = build(scenario);
  double bytes = 0;
  for (const std::size_t index : graph.chain) {
    for (const Op* op : graph.blocks[index].order()) bytes += op->saved.bytes();
  }
  return bytes;
}

double casts(const Scenario& scenario) {
  const OpGraph graph = build(scenario);
  double bytes = 0;
  for (const std::size_t index : graph.chain) {
    for (const Op* op : graph.blocks[index].order()) {
      for (const Items* items : {&op->forward, &op->backward}) {
        for (const Item& item : *items) {
          const auto* launch = std::get_if<Launch>(&item);
          if (launch != nullptr && launch->name == "cast of activation input")
            bytes += std::get<MemoryBound>(launch->work).bytes.bytes();
        }
      }
    }
  }
  return bytes;
}

}  // namespace

TEST_CASE("an activation's input in fp8 leaves half of what it keeps, by a cast each way") {
  const double inputs = kLayers * 2 * kTokens * kFfn;
  const Scenario plain = decoder("", "");
  const Scenario narrow = decoder("", ", fp8_activation_input: true");
  CHECK(saved(plain) - saved(narrow) == nine_digits(inputs));
  CHECK(casts(narrow) == nine_digits(2 * 3 * inputs));
  CHECK(casts(plain) == 0);
}

TEST_CASE("experts keep the input of their activation in fp8 alike") {
  const char* experts = ", experts: {count: 8, top_k: 2, ffn: 1024}";
  const double inputs = kLayers * 2 * 2 * kTokens * kFfn;
  const Scenario plain = decoder(experts, "");
  const Scenario narrow = decoder(experts, ", fp8_activation_input: true");
  CHECK(saved(plain) - saved(narrow) == nine_digits(inputs));
  CHECK(casts(narrow) == nine_digits(2 * 3 * inputs));
}
