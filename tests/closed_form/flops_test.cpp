// Conventions of FLOPs against what their authors publish.
//
// B sequences of s tokens through l layers of hidden size h, inner width f, a heads of which g have
// keys and values of their own, vocabulary V, N parameters; forward 2 FLOPs a multiply-add and
// backward twice that:
//   megatron       72 B l s h^2 (1 + s/6h + V/12lh)        GPT: g = a, f = 4h
//   megatron-2021  96 B l s h^2 (1 + s/6h + V/16lh)
//   causal         12 B l s h^2 (1 + g/a + s/2h + 3f/2h + V/2lh)   gated MLP
//   palm           B s (6 N + 12 l h s)
//   6nd            6 N B s
#include <cmath>

#include <fmt/format.h>

#include "sim/core/error.hpp"
#include "sim/ops/blocks.hpp"
#include "sim/ops/flop_convention.hpp"
#include "sim/plan/pass/recompute.hpp"
#include "tests/closed_form/harness.hpp"
#include "tests/source_folder.hpp"

using namespace stepsim;

namespace {

/// A scenario of one sequence on one GPU, whose memory does not matter.
Scenario one_gpu(const std::string& model, const std::string& convention, int sequence,
                 const std::string& training = "") {
  return scenario_of(fmt::format(R"(
model: {}
cluster: {{name: c, gpu: a100-80}}
training: {{sequence_length: {}, global_batch: 1{}}}
run: {{flops: {}}}
)",
                                 model, sequence, training, convention));
}

OpGraph counted(const std::string& model, const std::string& convention, int sequence) {
  return build(one_gpu(model, convention, sequence));
}

double a_token(const std::string& model, const std::string& convention, int sequence) {
  return counted(model, convention, sequence).model_flops.flops() / sequence;
}

double active(const std::string& model) {
  return parameter_tally(load_model(model, Library{{source_folder()}})).active;
}

doctest::Approx within(double share, double value) {
  return doctest::Approx(value).epsilon(share).scale(0);
}

}  // namespace

TEST_CASE("GPT-3 175B took 3.14e23 FLOPs for 300 billion tokens, by 6N") {
  // Brown et al. 2020 (arXiv 2005.14165), table D.1, with 174.6 billion parameters.
  CHECK(a_token("gpt3-175b", "6nd", 2048) * 300e9 == within(0.001, 3.143e23));
}

TEST_CASE("Llama 3 405B took 3.8e25 FLOPs for 15.6 trillion tokens, by 6N") {
  // Llama Team 2024 (arXiv 2407.21783), section 1.
  CHECK(a_token("llama3-405b", "6nd", 8192) * 15.6e12 == within(0.001, 3.8e25));
}

TEST_CASE("the FLOPs of Korthikanti's table 5 are those that its step times and MFU say") {
  // arXiv 2205.05198, table 5: with sequence parallelism and selective recompute 13.75 s, 51.4 %
  // MFU and 52.8 % HFU on 64 A100 of 312 TFLOP/s at batch 64 for 175B.
  struct Row {
    const char* model;
    double batch, gpus, seconds, mfu, hfu;
  };
  for (const Row& row : {Row{"megatron-22b", 4, 8, 1.10, 0.415, 0.437},
                         Row{"megatron-175b", 64, 64, 13.75, 0.514, 0.528},
                         Row{"megatron-530b", 280, 280, 37.83, 0.560, 0.570},
                         Row{"megatron-1t", 512, 512, 71.49, 0.563, 0.570}}) {
    CAPTURE(row.model);
    const Scenario scenario = one_gpu(row.model, "megatron", 2048, ", recompute: selective");
    const OpGraph graph = build(scenario);
    const double peak = 312e12 * row.gpus * row.seconds / row.batch;
    const double model = graph.model_flops.flops();
    CHECK(model / peak == within(0.005, row.mfu));
    // The paper's s/3h counts three forward passes of attention again; what runs again is one.
    const double again = hardware_flops(scenario, graph).flops() - model;
    CHECK((model + 3 * again) / peak == within(0.005, row.hfu));
  }
}

TEST_CASE("the rates of Narayanan's table 1 count 96 B l s h^2 (1 + s/6h + V/16lh)") {
  const double l = 96, s = 2048, h = 12288, V = 51200;
  const double formula = 96 * l * s * h * h * (1 + s / (6 * h) + V / (16 * l * h));
  const OpGraph graph = counted("megatron-175b", "megatron-2021", 2048);
  CHECK(graph.model_flops.flops() == nine_digits(formula));
  // arXiv 2104.04473, section 5.1: end to end 34 days for 300 billion tokens at 140 TFLOP/s on 1024
  // GPUs, by 8 T P / (n X).
  const double days = a_token("megatron-175b", "megatron-2021", 2048) * 300e9 / (1024 * 140e12);
  CHECK(days / 86400 == within(0.03, 34));
}

TEST_CASE("the convention causal counts half of attention, and what Megatron-LM's source does") {
  const double l = 126, s = 8192, h = 16384, a = 128, g = 8, f = 53248, V = 128256;
  const double formula =
      12 * l * s * h * h * (1 + g / a + s / (2 * h) + 1.5 * f / h + V / (2 * l * h));
  CHECK(counted("llama3-405b", "causal", 8192).model_flops.flops() == nine_digits(formula));
  const double full = counted("llama3-405b", "megatron", 8192).model_flops.flops();
  CHECK(full - formula == nine_digits(6 * l * s * s * h));
}

TEST_CASE("llm-foundry's TFLOP/s count 6N and full attention") {
  // mosaicml/llm-foundry@8c8dd48:scripts/train/benchmarking/README.md: 8 A100-80, sequence 2048.
  // MPT-7B 37,130 tokens/s, MFU 64.23 %; MPT-30B with recompute 7,330 tokens/s, MFU 55.30 %, HFU
  // 73.74 %.
  const double peak = 8 * 312e12;
  CHECK(a_token("mpt-7b", "palm", 2048) * 37130 / peak == within(0.0005, 0.6423));
  const Scenario scenario = one_gpu("mpt-30b", "palm", 2048, ", recompute: full");
  const OpGraph graph = build(scenario);
  CHECK(graph.model_flops.flops() / 2048 * 7330 / peak == within(0.0005, 0.5530));
  // llm-foundry repeats the embedding and the head, too, as if they were recomputed: 4/3 of MFU.
  CHECK(hardware_flops(scenario, graph).flops() / 2048 * 7330 / peak == within(0.02, 0.7374));
}

TEST_CASE("6N takes the parameters that a token goes through") {
  CHECK(active("mixtral-8x7b") == within(0.005, 12.9e9));  // mistral.ai/news/mixtral-of-experts
  CHECK(active("mixtral-8x22b") == within(0.01, 39e9));    // mistral.ai/news/mixtral-8x22b
  CHECK(active("deepseek-v2") == within(0.03, 21e9));      // arXiv 2405.04434, abstract
  CHECK(active("deepseek-v3") == within(0.03, 37e9));      // arXiv 2412.19437, abstract
  CHECK(active("qwen3-30b-a3b") == within(0.02, 3.3e9));   // arXiv 2505.09388, table 2
  CHECK(active("qwen3-235b-a22b") == within(0.02, 22e9));  // arXiv 2505.09388, table 2
  CHECK(a_token("mixtral-8x7b", "6nd", 4096) == nine_digits(6 * active("mixtral-8x7b")));
  CHECK(active("llama3-8b") == 8'030'261'248);
}

TEST_CASE("what N leaves out is the position table, the embedding, or the head as well") {
  const double h = 12288, V = 50257, positions = 2048, l = 96;
  const double N = active("gpt3-175b");
  const double attention = 12 * l * h * 2048;
  CHECK(a_token("gpt3-175b", "palm", 2048) == nine_digits(6 * N + attention));
  CHECK(a_token("gpt3-175b", "nanogpt", 2048) == nine_digits(6 * (N - positions * h) + attention));
  CHECK(a_token("gpt3-175b", "torchtitan", 2048) ==
        nine_digits(6 * (N - (V + positions) * h) + attention));
  CHECK(a_token("gpt3-175b", "kaplan", 2048) == nine_digits(6 * (N - (V + positions) * h)));
  // The head of Llama has weights of its own; torchtitan counts them.
  const double tables = 128256.0 * 4096;
  CHECK(a_token("llama3-8b", "kaplan", 8192) ==
        nine_digits(6 * (active("llama3-8b") - 2 * tables)));
  CHECK(a_token("llama3-8b", "torchtitan", 8192) ==
        nine_digits(6 * (active("llama3-8b") - tables) + 12.0 * 32 * 4096 * 8192));
}

TEST_CASE("frozen weights have two passes in every convention, and adapters three") {
  const double l = 32, h = 4096, f = 11008, V = 32000, s = 4096, r = 16;
  const double products = l * (4 * h * h + 3 * h * f), table = V * h;
  const double N = active("llama2-7b");
  const double A = l * r * ((h + 3 * h) + (h + h) + (h + 2 * f) + (f + h));
  const double attention = 12 * l * h * s;
  const auto counts = [&](const std::string& convention, double frozen, double rest) {
    CAPTURE(convention);
    const Scenario scenario = one_gpu("llama2-7b", convention, 4096, ", lora: {rank: 16}");
    CHECK(build(scenario).model_flops.flops() / s == nine_digits(4 * frozen + rest));
  };
  counts("gemms", products + table, 6 * A + attention);
  counts("megatron", products + table, 6 * A + attention);
  counts("causal", products + table, 6 * A + attention / 2);
  // All layers run forward once more.
  counts("megatron-2021", products * 3 / 2 + table, 8 * A + attention * 4 / 3);
  counts("palm", N, 6 * A + attention);
  counts("nanogpt", N, 6 * A + attention);
  counts("torchtitan", N - table, 6 * A + attention);
  counts("6nd", N, 6 * A);
  counts("kaplan", N - 2 * table, 6 * A);
}

TEST_CASE("recompute is weighed as the convention weighs the first pass") {
  const double l = 96, s = 2048, h = 12288;
  const auto added = [](const char* convention, const char* recompute) {
    const Scenario scenario =
        one_gpu("megatron-175b", convention, 2048, fmt::format(", recompute: {}", recompute));
    const OpGraph graph = build(scenario);
    return (hardware_flops(scenario, graph) - graph.model_flops).flops();
  };
  CHECK(added("megatron", "selective") == nine_digits(4 * l * s * s * h));
  CHECK(added("causal", "selective") == nine_digits(2 * l * s * s * h));
  CHECK(added("6nd", "selective") == 0);
  CHECK(added("palm", "full") == nine_digits(l * (24 * s * h * h + 4 * s * s * h)));
  CHECK(added("6nd", "full") == nine_digits(l * 24 * s * h * h));
}

TEST_CASE("a model without tokens counts its GEMMs, and no transformer's convention") {
  const std::string mlp = R"(
model: {name: m, kind: mlp, layers: 3, width: 100}
cluster: {name: c, gpu: a100-80}
training: {global_batch: 8, precision: fp32}
)";
  const OpGraph graph = build(scenario_of(mlp));
  CHECK(graph.flop_convention.starts_with("gemms: "));
  CHECK(graph.model_flops.flops() == nine_digits(3 * 3 * 2.0 * 8 * 100 * 100));
  CHECK_THROWS_AS(build(scenario_of(mlp + "run: {flops: palm}\n")), UserError);
  CHECK_THROWS_AS(build(scenario_of(mlp + "run: {flops: plam}\n")), UserError);
}
