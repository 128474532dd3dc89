// Gated delta nets: the parameters of Qwen3-Next, FLOPs as Megatron-LM counts them, and kernels
// that take as long as their bytes, a multiprocessor and the chain over chunks say.
//
// With h the width, k and v those of all heads' keys and values, n heads of values of K x V: a
// token has
//   2 h (2 k + 2 v + 2 n) + 2 (4 taps (2 k + v) + 4 n K V) + 2 v h
// forward, and twice that backward.
#include <fmt/format.h>

#include "sim/cluster/kernel_time.hpp"
#include "sim/ops/blocks.hpp"
#include "sim/scenario/read/assumed_keys.hpp"
#include "tests/closed_form/harness.hpp"

using namespace stepsim;

namespace {

constexpr double h = 1024, n = 16, K = 128, k = 8 * K, v = n * K, s = 2048;

std::string hybrid(const std::string& pattern, int parts = 1, const std::string& parallelism = "") {
  return fmt::format(
      "cluster: {{base: dgx-h100, nodes: 1}}\n"
      "model: {{name: m, layers: {}, hidden: 1024, heads: 8, ffn: 4096, vocabulary: 32000, "
      "rms_norm: true, bias: false, tied_embeddings: false, dropout: false, "
      "hybrid: {{pattern: \"{}\", parts: {}, delta_net: {{key_heads: 8, value_heads: 16}}}}}}\n"
      "training: {{sequence_length: 2048, global_batch: 8, attention: flash3, "
      "vocabulary_multiple: 1}}\nparallelism: {{{}}}\n",
      pattern.size() / static_cast<std::size_t>(parts), pattern, parts, parallelism);
}

double flops(const std::string& pattern, int parts = 1, const std::string& parallelism = "") {
  return build(scenario_of(hybrid(pattern, parts, parallelism))).model_flops.flops();
}

/// The op of that name in the first layer.
Op op_of(const OpGraph& graph, const std::string& name) {
  for (const Block& block : graph.blocks) {
    for (const Op& op : block.dag.ops)
      if (op.name == name) return op;
  }
  FAIL("no op is called ", name);
  return {};
}

/// What launches of that name take on a GPU that moves 1 TB/s with 100 multiprocessors.
double seconds_of(const Items& items, const std::string& name) {
  double sum = 0;
  for (const Item& item : items) {
    const auto* launch = std::get_if<Launch>(&item);
    if (launch != nullptr && launch->name == name)
      sum += kernel_time(launch->work, paper_gpu()).seconds();
  }
  return sum;
}

}  // namespace

TEST_CASE("the parameters of Qwen3-Next are those of its released weights") {
  const Library library{{source_folder()}};
  const Model model = load_model("qwen3-next-80b-a3b", library);
  CHECK(parameter_count(model) == 79'674'391'296);
}

TEST_CASE("a delta net's FLOPs are those of its linear layers, convolution and states") {
  const double tokens = 8 * s;
  const double net =
      2 * h * (2 * k + 2 * v + 2 * n) + 2 * (4 * (2 * k + v) + 4 * n * K * K) + 2 * v * h;
  CHECK(flops("GG-") - flops("G-") == nine_digits(3 * tokens * net));
  // However it is split, and whatever is one layer.
  CHECK(flops("G-G*", 1, "tensor: 4, sequence: true") == nine_digits(flops("G-G*")));
  CHECK(flops("G-*-", 2, "pipeline: {stages: 2}") == nine_digits(flops("G-*-")));
}

TEST_CASE("the delta rule takes what its bytes, multiprocessors and chunks take") {
  const Op op = op_of(build(scenario_of(hybrid("G-"))), "delta net");
  const double pairs = s * n, C = 64, state = 2 * K * K / C;
  // Bytes at 1 TB/s, four fifths of them from memory forward; 120 and 580 ns on one of 100
  // multiprocessors.
  const double chunks = 0.8 * (10 * K + 8 * K + 12 * C + state) * 1e-12 + 1.2e-9;
  const double backward = (26 * K + 20 * K + 4 * C + 2 * state) * 1e-12 + 5.8e-9;
  CHECK(seconds_of(op.forward, "delta rule chunks") == nine_digits(pairs * chunks));
  CHECK(seconds_of(op.backward, "delta rule chunks backward") == nine_digits(pairs * backward));
  // 16 heads of one sequence are faster than 20 ns a position forward, but not than 60 backward.
  const double states = pairs * 0.8 * (8 * K + state) * 1e-12;
  CHECK(states < 20e-9 * s);
  CHECK(seconds_of(op.forward, "delta rule states") == nine_digits(20e-9 * s));
  CHECK(seconds_of(op.backward, "delta rule states backward") == nine_digits(60e-9 * s));
}

TEST_CASE("a delta net keeps its input, what the rule takes, and what it puts out") {
  const Op op = op_of(build(scenario_of(hybrid("G-"))), "delta net");
  const double input = 2 * k + 2 * v + 2 * n, repeated = n * K;
  const double factors = n * (4 + 2 + 2 * 64);  // decay, learning rate, inverse of a chunk
  CHECK(op.saved.bytes() ==
        nine_digits(s * (2 * input + 2 * (2 * repeated + v) + factors + 2 * v)));
  const Op half = op_of(build(scenario_of(hybrid("G-", 1, "tensor: 2"))), "delta net");
  CHECK(half.saved.bytes() == nine_digits(op.saved.bytes() / 2));
}

TEST_CASE("layers of several parts hold what layers of one part do") {
  const OpGraph two = build(scenario_of(hybrid("G-G-G-*-", 2)));
  CHECK(two.chain.size() == 4 + 2);
  CHECK(two.total_parameters == build(scenario_of(hybrid("G-G-G-*-"))).total_parameters);
  CHECK(two.total_parameters == parameter_count(scenario_of(hybrid("G-G-G-*-")).model));
  // Whole layers are computed again from one input, not from two.
  const std::string again = "\nrun: {steps: 1, warmup: 0}\n";
  CHECK(Experiment(hybrid("G-G-", 2, "") + again).step_seconds() > 0);
}

// --- Kimi delta attention: decays of channels. With r the rank of what makes decays and gates, a
// token has
//   2 h (2 k + v + n) + 2 r (2 h + k + v) + 2 (4 taps (2 k + v) + 4 n K V) + 2 v h
// forward.

namespace {

constexpr double r = 64;

std::string kimi(const std::string& pattern, const std::string& net = "",
                 const std::string& more = "") {
  return fmt::format(
      "cluster: {{base: dgx-h100, nodes: 1}}\n"
      "model: {{name: m, layers: {}, hidden: 1024, heads: 8, ffn: 4096, vocabulary: 32000, "
      "rms_norm: true, bias: false, tied_embeddings: false, dropout: false, {}"
      "hybrid: {{pattern: \"{}\", delta_net: {{key_heads: 16, value_heads: 16, gate_rank: "
      "64{}}}}}}}\n"
      "training: {{sequence_length: 2048, global_batch: 8, attention: flash3, "
      "vocabulary_multiple: 1}}\n",
      pattern.size(), more, pattern, net);
}

}  // namespace

TEST_CASE("the parameters of Kimi Linear are those of its released weights but for router biases") {
  const Model model = load_model("kimi-linear-48b-a3b", Library{{source_folder()}});
  CHECK(parameter_count(model) == 49'122'675'072);
  CHECK(build(scenario_of("cluster: {base: dgx-h100, nodes: 8}\nmodel: kimi-linear-48b-a3b\n"
                          "training: {sequence_length: 4096, global_batch: 64}\n"
                          "parallelism: {expert: {degree: 8}}\n"))
            .total_parameters == 49'122'675'072);
}

TEST_CASE("decays and gates of channels come from narrow layers") {
  const double tokens = 8 * s, w = n * K;
  const double net =
      2 * h * (3 * w + n) + 2 * r * (2 * h + 2 * w) + 2 * (4 * 3 * w + 4 * n * K * K) + 2 * w * h;
  const auto flops_of = [](const std::string& text) {
    return build(scenario_of(text)).model_flops.flops();
  };
  CHECK(flops_of(kimi("GG-")) - flops_of(kimi("G-")) == nine_digits(3 * tokens * net));
  CHECK(flops_of(kimi("G-G*") + "parallelism: {tensor: 4, sequence: true}\n") ==
        nine_digits(flops_of(kimi("G-G*"))));
  // Latent attention stands among nets as elsewhere.
  const std::string mla =
      "mla: {query_rank: 0, kv_rank: 256, nope_dim: 128, rope_dim: 64, value_dim: 128}, ";
  const OpGraph graph = build(scenario_of(kimi("G-*-", "", mla)));
  CHECK(graph.total_parameters == parameter_count(scenario_of(kimi("G-*-", "", mla)).model));
}

TEST_CASE("decays of channels are read in fp32 by each kernel of the rule") {
  const Op op = op_of(build(scenario_of(kimi("G-"))), "delta net");
  const double pairs = s * n, C = 64, state = 2 * K * K / C;
  const double chunks = 0.8 * (24 * K + 8 * K + 12 * C + state) * 1e-12 + 3.7e-9;
  const double backward = (50 * K + 20 * K + 4 * C + 2 * state) * 1e-12 + 13.5e-9;
  CHECK(seconds_of(op.forward, "delta rule chunks") == nine_digits(pairs * chunks));
  CHECK(seconds_of(op.backward, "delta rule chunks backward") == nine_digits(pairs * backward));
  CHECK(seconds_of(op.forward, "delta rule states") ==
        nine_digits(std::max(30e-9 * s, pairs * 0.8 * (8 * K + state) * 1e-12)));
  CHECK(seconds_of(op.backward, "delta rule states backward") ==
        nine_digits(std::max(90e-9 * s, pairs * (20 * K + 2 * state) * 1e-12)));
  CHECK(seconds_of(op.forward, "queries, keys, values laid out") == 0);
  // Kept are the wide layer's output, what the narrow ones make of decays and gates, queries, keys
  // and values, decays in fp32, each head's step and two matrices of its chunk, and the output.
  const double w = n * K;
  const double each =
      2 * (3 * w + n) + 2 * w + 2 * w + 2 * 3 * w + 4 * w + n * (2 + 2 * 2 * C) + 2 * w;
  CHECK(op.saved.bytes() == nine_digits(s * each));
}

TEST_CASE("rates of delta nets are of heads of 128 x 128, and others' are assumed") {
  const auto assumed = [](const std::string& net) {
    for (const AssumedKey& key : assumed_keys(scenario_of(kimi("G-", net)), {}))
      if (key.key == "model.hybrid.delta_net") return key.value;
    return std::string();
  };
  CHECK(assumed("").empty());
  CHECK(assumed(", key_dim: 64") == "rates of 128 x 128 in proportion to 64 x 128");
}
