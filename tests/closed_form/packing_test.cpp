// Sequences packed of documents: attention's FLOPs are those of pairs within documents.
//
// A token of a document of l tokens sees l / 2 keys under a causal mask, or with a window of W < l
//   W - W^2 / (2 l); tokens of long documents are more: sum(l^2) / sum(l) / 2 on average.
// Among n ranks with t tokens each, the busiest has 1 + sqrt(V / (E t)) / r * m(n) times the mean
//   work, E the mean length, r the keys a token sees, V the mean of (W - r l)^2 for work W, m(n)
//   the mean of the largest of n normal draws: 1 / sqrt(pi) of two.
#include <cmath>
#include <numbers>

#include <fmt/format.h>

#include "sim/cluster/kernel_time.hpp"
#include "sim/ops/attention_shape.hpp"
#include "sim/ops/packed_attention.hpp"
#include "sim/ops/pass.hpp"
#include "sim/ops/style/style.hpp"
#include "tests/closed_form/harness.hpp"

using namespace stepsim;

namespace {

constexpr double s = 8192, h = 1024;

Scenario packed(const std::string& packing, const std::string& parallelism = "",
                const std::string& window = "") {
  return scenario_of(fmt::format(
      "cluster: {{base: dgx-h100, nodes: 1}}\n"
      "model: {{name: m, layers: 4, hidden: 1024, heads: 8, vocabulary: 32000{}}}\n"
      "training: {{sequence_length: 8192, global_batch: 16, attention: flash3{}}}\n"
      "parallelism: {{{}}}\n"
      "run: {{flops: causal}}\n",
      window, packing.empty() ? "" : fmt::format(", packing: {{{}}}", packing), parallelism));
}

double flops(const std::string& packing, const std::string& window = "") {
  return build(packed(packing, "", window)).model_flops.flops();
}

}  // namespace

TEST_CASE("attention's FLOPs are those of the pairs within documents") {
  // Forward and backward of 16 sequences in four layers: 12 h a pair.
  const double unit = 16 * 4 * 12 * h;
  const auto saved = [&](const std::string& packing) { return flops("") - flops(packing); };
  CHECK(saved("mean: 1024") == nine_digits(unit * (s * s / 2 - s * 1024 / 2)));
  CHECK(saved("mean: 8192") == 0);
  // 512 and 1536 tokens: (512^2 + 1536^2) / 2048 = 1280 tokens around each.
  CHECK(saved("distribution: empirical, values: [512, 1536]") ==
        nine_digits(unit * (s * s / 2 - s * 1280 / 2)));
  // Values are scaled to a mean, and cut at the length of a sequence.
  CHECK(saved("distribution: empirical, values: [1, 3], mean: 1024") ==
        nine_digits(unit * (s * s / 2 - s * 1280 / 2)));
  CHECK(saved("distribution: empirical, values: [8192, 80000]") == 0);
}

TEST_CASE("of a window a document has what it is long") {
  const double unit = 16 * 4 * 12 * h;
  constexpr double W = 1024;
  const std::string window = ", window: {tokens: 1024}";
  const double whole = unit * (s * W - W * W / 2);
  // Two kinds of documents: of 512 tokens, within the window, and of 2048.
  const double keys = (512.0 * 256 + 2048 * (W - W * W / 4096)) / 2560;
  CHECK(flops("", window) - flops("distribution: empirical, values: [512, 2048]", window) ==
        nine_digits(whole - unit * s * keys));
}

TEST_CASE("equal documents invert the keys that a token sees") {
  for (const std::int64_t window : {0, 256, 4096}) {
    for (const double length : {100.0, 256.0, 1000.0, 8192.0}) {
      CAPTURE(window);
      CAPTURE(length);
      CHECK(equal_document(mean_keys(length, window), window) == nine_digits(length));
    }
  }
}

TEST_CASE("a lognormal length has the moments of its mean and deviation") {
  // E[l^2] / E[l] = mean (1 + sigma^2), where next to none are cut.
  const PackedAttention p = packed_attention(packed("mean: 100, sigma: 0.5"), 0);
  CHECK(p.keys == doctest::Approx(125).epsilon(2e-3));
}

TEST_CASE("the busiest of two ranks has more work by the draws of its documents") {
  // Lengths 512 and 1536: E = 1024, r = 640, work l^2 / 2 = 131072 and 1179648, V = the mean of
  // (131072 - 640 * 512)^2 and (1179648 - 640 * 1536)^2 = 196608^2.
  const std::string values = "distribution: empirical, values: [512, 1536]";
  const auto expected = [](double tokens, double most) {
    return 1 + 196608 / std::sqrt(1024 * tokens) / 640 * most;
  };
  const double of_two = 1 / std::sqrt(std::numbers::pi);
  const auto imbalance = [&](const std::string& parallelism, const std::string& more = "") {
    return packed_attention(packed(values + more, parallelism), 0).imbalance;
  };
  // Four tensor ranks are two data ranks, of eight sequences each; ZeRO 3 meets in each pass.
  CHECK(imbalance("tensor: 4") == nine_digits(expected(8 * s, of_two)));
  CHECK(imbalance("tensor: 4, data: {sharding: zero3}") == nine_digits(expected(s, of_two)));
  CHECK(imbalance("tensor: 8") == 1);
  CHECK(imbalance("tensor: 4", ", imbalance: 1") == 1);
  CHECK(imbalance("tensor: 4", ", imbalance: 1.25") == 1.25);
  // Nobody has more than whole sequences: r = 640 of 4096.
  CHECK(imbalance("tensor: 4", ", imbalance: 100") == nine_digits(4096.0 / 640));
  // Ranks that have parts of a sequence have fewer documents each; a ring has parts of each.
  CHECK(imbalance("tensor: 4, context: {degree: 2, kind: all_gather}") ==
        nine_digits(expected(s / 2, of_two)));
  CHECK(imbalance("tensor: 4, context: {degree: 2}") == 1);
  // Documents of one length leave nothing to chance.
  CHECK(packed_attention(packed("mean: 1024"), 0).imbalance == 1);
}

TEST_CASE("equal documents take a kernel as long as sequences of their length") {
  const GpuProfile gpu = packed("").cluster.gpu;
  FusedAttention work{
      .kernel = "flash3", .batch = 1, .heads = 8, .head_dim = 128, .sequence = 8192};
  work.document = 1024;
  FusedAttention apart = work;
  apart.batch = 8;
  apart.sequence = 1024;
  apart.document = 0;
  CHECK(work.flops().flops() == nine_digits(apart.flops().flops()));
  CHECK(kernel_time(work, gpu).seconds() == nine_digits(kernel_time(apart, gpu).seconds()));
}

TEST_CASE("another sequence that is attended to has no documents") {
  const Scenario scenario = packed("mean: 1024");
  const Style style = style_of(scenario.training);
  const Pass pass = pass_of(scenario, style);
  CHECK(AttentionShape{}.packed(pass).document == 1024);
  CHECK(AttentionShape{.keys = 512}.packed(pass).document == 0);
}
