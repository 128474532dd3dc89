// The kernels around attention that only move bytes: partial results of contexts, and gradients
// laid out for the projections before it.
#include <map>
#include <string>

#include <fmt/format.h>

#include "tests/closed_form/harness.hpp"

using namespace stepsim;

namespace {

constexpr double kTokens = 2 * 1024;  // tokens of a micro-batch

const Op& attention_of(const OpGraph& graph) {
  for (const Op* op : graph.blocks.at(1).order()) {
    if (op->core_attention) return *op;
  }
  throw std::out_of_range("no attention");
}

OpGraph graph_of(const std::string& model, const std::string& parallelism,
                 const std::string& training = "attention: flash2") {
  return build(scenario_of(fmt::format(R"(
model: {{layers: 2, hidden: 512, heads: 8, vocabulary: 8192{}}}
cluster: {{name: c, gpu: h100, gpus_per_node: 8, intra_node: nvlink4}}
training: {{sequence_length: 1024, global_batch: 16, micro_batch: 2, precision: bf16,
           {}}}
parallelism: {{{}}}
)",
                                       model, training, parallelism)));
}

/// Bytes by name of the kernels that move nothing else.
std::map<std::string, double> moved(const Items& items) {
  std::map<std::string, double> bytes;
  for (const Item& item : items) {
    const auto* launch = std::get_if<Launch>(&item);
    const auto* work = launch == nullptr ? nullptr : std::get_if<MemoryBound>(&launch->work);
    if (work != nullptr) bytes[launch->name] += work->bytes.bytes();
  }
  return bytes;
}

}  // namespace

TEST_CASE("a ring merges whole partial results without a mask, three quarters of them with one") {
  constexpr double n = 4;
  const double tensor = 2 * kTokens / n * 512;  // queries, keys, values and output alike
  for (const bool causal : {true, false}) {
    CAPTURE(causal);
    const OpGraph graph =
        graph_of(fmt::format(", positions: 1024, causal: {}", causal), "context: {degree: 4}");
    const Op& op = attention_of(graph);
    // Each of the later blocks: read it, read and write the sum.
    const double merged = 3 * (causal ? 0.75 : 1) * (n - 1);
    CHECK(moved(op.forward)["merge outputs"] == nine_digits(merged * tensor));
    CHECK(moved(op.backward)["merge gradients"] == nine_digits(merged * 3 * tensor));
  }
}

TEST_CASE("Transformer Engine moves the batch to the front where its attention wants that") {
  constexpr double A = 2 * kTokens * 512;
  const char* rotary = ", bias: false, kv_heads: 2";
  const auto forward = [](const char* model, const char* kernel) {
    const std::string training =
        fmt::format("attention: {}, transformer_impl: transformer_engine", kernel);
    return moved(attention_of(graph_of(model, "", training)).forward);
  };
  using Moved = std::map<std::string, double>;
  CHECK(forward(", positions: 1024", "cudnn") == Moved{});
  CHECK(forward(", positions: 1024", "flash2") ==
        Moved{{"queries, keys, values to the front", 6 * A}, {"context to the back", 2 * A}});
  for (const char* kernel : {"cudnn", "flash2"}) {
    CHECK(forward(rotary, kernel) == Moved{{"queries joined", 2 * A},
                                           {"rotary embedding", 2 * 1.25 * A},
                                           {"values to the front", 2 * 0.25 * A},
                                           {"context to the back", 2 * A}});
  }
  CHECK(moved(attention_of(graph_of(rotary, "")).forward).size() == 1);
}

TEST_CASE("gradients of one projection are joined, those of latent attention's own are not") {
  const char* kJoined = "qkv gradient concatenation";
  CHECK(moved(attention_of(graph_of("", "")).backward)[kJoined] ==
        nine_digits(2 * 2 * kTokens * 3 * 512));
  const OpGraph latent =
      graph_of(", mla: {kv_rank: 64, nope_dim: 32, rope_dim: 16, value_dim: 32}", "");
  CHECK(moved(attention_of(latent).backward).count(kJoined) == 0);
}
