// Losses without logits: FLOPs, kernels and memory of the head, by hand.
//
// Of T tokens, hidden size H and V words, Liger's chunks have 2^k >= T / ceil(V / H) tokens. Each
// product of the head is 2 T H V FLOPs, three of them in Liger's forward pass.
#include <cmath>

#include <fmt/format.h>

#include "tests/closed_form/harness.hpp"

using namespace stepsim;

namespace {

constexpr double T = 2048, H = 512, V = 32000;

Scenario decoder(const std::string& training) {
  return scenario_of(fmt::format(R"(
model: {{name: m, layers: 2, hidden: 512, heads: 8, ffn: 2048, vocabulary: 32000, dropout: false,
  bias: false, tied_embeddings: false}}
cluster: {{name: c, gpu: h100, gpus_per_node: 1, intra_node: nvlink4}}
training: {{sequence_length: 1024, global_batch: 2, micro_batch: 2, attention: flash3,
  fusion: liger, {}}}
run: {{steps: 1, warmup: 0}}
)",
                                 training));
}

const Op& loss_of(const OpGraph& graph) { return graph.blocks[graph.chain.back()].dag.ops.back(); }

double products(const Items& items) {
  double flops = 0;
  for (const Item& item : items) {
    const auto* launch = std::get_if<Launch>(&item);
    const auto* gemm = launch == nullptr ? nullptr : std::get_if<Gemm>(&launch->work);
    if (gemm != nullptr) flops += gemm->flops().flops();
  }
  return flops;
}

double moved(const Items& items, const std::string& name) {
  double bytes = 0;
  for (const Item& item : items) {
    const auto* launch = std::get_if<Launch>(&item);
    if (launch != nullptr && launch->name == name)
      bytes += std::get<MemoryBound>(launch->work).bytes.bytes();
  }
  return bytes;
}

constexpr double kProduct = 2 * T * H * V;

}  // namespace

TEST_CASE("Liger's loss has all products in its forward pass, and keeps gradients alone") {
  const OpGraph graph = build(decoder("cross_entropy: liger_fused_linear"));
  const Op& loss = loss_of(graph);
  CHECK(products(loss.forward) == nine_digits(3 * kProduct));
  CHECK(products(loss.backward) == 0);
  CHECK(loss.flops.flops() == nine_digits(kProduct));
  // Maximum and sum, then the gradient in place: three times 2 B a logit.
  CHECK(moved(loss.forward, loss.name) == nine_digits(6 * T * V));
  CHECK(moved(loss.backward, loss.name + " backward") == nine_digits(4 * T * H));
  CHECK(moved(loss.backward, loss.name + " weight backward") == nine_digits(4 * V * H));
  CHECK(loss.saved.bytes() == nine_digits(2 * (T * H + V * H)));
  // ceil(32000 / 512) = 63, ceil(2048 / 63) = 33, so that a chunk has 64 tokens.
  CHECK(loss.scratch.bytes() == nine_digits(2 * 64 * V));
}

TEST_CASE("cut cross entropy multiplies again, and keeps its input and a number a token") {
  const OpGraph graph = build(decoder("cross_entropy: cut_cross_entropy"));
  const Op& loss = loss_of(graph);
  CHECK(products(loss.forward) == nine_digits(kProduct));
  // (89.3 - 46.4) / 46.4 of a product beside the one that is repeated, of whole tokens.
  const double skipped = std::round((89.3 - 46.4) / 46.4 / 2 * T) / T;
  CHECK(products(loss.backward) == nine_digits((1 + 2 * skipped) * kProduct));
  CHECK(loss.saved.bytes() == nine_digits(2 * T * H + 4 * T));
}

TEST_CASE("a loss without logits has the parameters and FLOPs of one with them") {
  const OpGraph with = build(decoder("cross_entropy: torch"));
  for (const char* name : {"liger_fused_linear", "cut_cross_entropy"}) {
    CAPTURE(name);
    const OpGraph without = build(decoder(fmt::format("cross_entropy: {}", name)));
    CHECK(without.blocks[without.chain.back()].parameters() ==
          with.blocks[with.chain.back()].parameters());
    CHECK(without.model_flops.flops() == nine_digits(with.model_flops.flops()));
  }
}

TEST_CASE("beside adapters a frozen head has no gradient of its weight, whatever the loss") {
  for (const char* loss : {"liger_fused_linear", "cut_cross_entropy"}) {
    CAPTURE(loss);
    const OpGraph graph = build(decoder(fmt::format("cross_entropy: {}, lora: {{rank: 8}}", loss)));
    const Op& head = loss_of(graph);
    CHECK(head.parameters.empty());
    CHECK(moved(head.backward, head.name + " weight backward") == 0);
  }
}

TEST_CASE("a loss in chunks has the products of all, and the logits of one chunk") {
  const Op loss = loss_of(build(decoder("cross_entropy: torch, loss_chunks: 8")));
  CHECK(products(loss.forward) == nine_digits(3 * kProduct));
  CHECK(products(loss.backward) == 0);
  CHECK(loss.flops.flops() == nine_digits(kProduct));
  CHECK(loss.saved.bytes() == nine_digits(2 * T * H));
  // Logits in 16 bits, the log-softmax in fp32, the buffer of input gradients, and the chunk's
  // gradient of the weight.
  CHECK(loss.scratch.bytes() == nine_digits((2 + 4) * T / 8 * V + 4 * T * H + 2 * H * V));
  CHECK(moved(loss.forward, "input gradient of a chunk") == nine_digits(6 * T * H));
  CHECK(moved(loss.forward, "input gradients cast") == nine_digits(6 * T * H));
  // Gradients of the weight are added to those of seven chunks, by products or by kernels.
  CHECK(moved(loss.forward, "logits gradient sum") == 0);
  const Op summed = loss_of(build(
      decoder("cross_entropy: torch, loss_chunks: 8, fused_accumulation: false, gradients: bf16")));
  CHECK(moved(summed.forward, "logits gradient sum") == nine_digits(7 * 6 * H * V));
  CHECK(summed.scratch == loss.scratch);
  // Zero 3 counts the whole gradient of a block, to which those of chunks are added.
  Scenario sharded = decoder("cross_entropy: torch, loss_chunks: 8");
  sharded.parallelism.data.sharding = sharding_named("zero3");
  CHECK(loss_of(build(sharded)).scratch == loss.scratch);
  // What is frozen has none.
  const Op frozen =
      loss_of(build(decoder("cross_entropy: torch, loss_chunks: 8, lora: {rank: 8}")));
  CHECK(frozen.scratch.bytes() == nine_digits((2 + 4) * T / 8 * V + 4 * T * H));
}
