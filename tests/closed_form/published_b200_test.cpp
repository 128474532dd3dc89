// Published times of Megatron-LM on eight B200: MooreThreads/SimuMax@4dcaae5:docs/b200
// (b200_release_v1.2_summary.json, b200_real_repro_guide.md; the interleaved row: release_v1.2.md).
//
// Cut-down Llama 3 (the 405B one with 16 key-value heads) and DeepSeek models, bf16 with fp32
// gradients, distributed optimizer, Transformer Engine with its fused cross entropy, sequence
// parallelism, no overlap of any communication, capacity 1 for experts, all-to-all for contexts;
// scripts: simu_tools/megatron_scripts/scripts.
#include <cmath>

#include <fmt/format.h>

#include "tests/closed_form/harness.hpp"

using namespace stepsim;

namespace {

struct Published {
  const char* model;
  int tensor, stages, context, expert, sequence, micro_batches;
  double seconds;
};

constexpr const char* kLlama70 = "{base: llama3-70b, layers: 12}";
constexpr const char* kLlama405 = "{base: llama3-405b, layers: 4, kv_heads: 16}";
constexpr const char* kDeepSeek2 = "{base: deepseek-v2, layers: 4}";
constexpr const char* kDeepSeek3 =
    "{base: deepseek-v3, layers: 4, experts: {count: 256, top_k: 8, ffn: 2048, shared_ffn: 2048, "
    "dense_layers: 1}}";

constexpr Published kRows[] = {
    {kLlama70, 2, 1, 1, 1, 4096, 4, 0.7255},    {kLlama70, 2, 1, 1, 1, 4096, 32, 5.3765},
    {kLlama70, 1, 2, 1, 1, 4096, 8, 1.4768},    {kLlama70, 4, 1, 1, 1, 4096, 8, 0.7656},
    {kLlama70, 4, 1, 1, 1, 4096, 32, 2.9646},   {kLlama405, 1, 2, 1, 1, 4096, 32, 7.0464},
    {kLlama405, 2, 1, 1, 1, 4096, 8, 1.7168},   {kLlama405, 4, 1, 1, 1, 4096, 4, 0.4760},
    {kLlama405, 8, 1, 1, 1, 4096, 32, 1.9018},  {kLlama70, 1, 1, 8, 1, 32768, 4, 1.7681},
    {kLlama405, 2, 1, 4, 1, 32768, 4, 1.9847},  {kLlama70, 2, 1, 4, 1, 131072, 4, 11.3157},
    {kLlama70, 1, 1, 8, 1, 131072, 4, 11.3019}, {kDeepSeek2, 1, 1, 1, 8, 4096, 8, 0.6762},
    {kDeepSeek2, 1, 2, 1, 4, 4096, 32, 1.7277}, {kDeepSeek3, 1, 1, 1, 8, 4096, 8, 1.1017}};

double predicted(const Published& row) {
  const int data = 8 / (row.tensor * row.stages * row.context);
  const std::string experts =
      row.expert > 1 ? fmt::format("  expert: {{degree: {}, capacity: 1}}\n", row.expert) : "";
  return Experiment(fmt::format(R"(
model: {}
cluster: dgx-b200
training:
  sequence_length: {}
  global_batch: {}
  precision: bf16
  gradients: fp32
  attention: cudnn
  cross_entropy: transformer_engine
parallelism:
  tensor: {}
  sequence: {}
  overlap_tensor: false
  pipeline: {{stages: {}}}
  context: {{degree: {}, kind: all_to_all}}
{}  data: {{sharding: zero1, overlap: false}}
run: {{steps: 1, warmup: 1}}
)",
                                row.model, row.sequence, row.micro_batches * data, row.tensor,
                                row.tensor > 1, row.stages, row.context, experts))
      .step_seconds();
}

}  // namespace

TEST_CASE("Megatron-LM steps on B200 are met within 10 %, and within 5 % on average") {
  double sum = 0;
  for (const Published& row : kRows) {
    const double simulated = predicted(row);
    const double error = simulated / row.seconds - 1;
    CAPTURE(row.model);
    CAPTURE(row.tensor);
    CAPTURE(row.sequence);
    CAPTURE(row.micro_batches);
    CAPTURE(simulated);
    CAPTURE(row.seconds);
    CHECK(std::abs(error) <= 0.10);
    sum += std::abs(error);
  }
  MESSAGE("mean error over " << std::size(kRows) << " rows: " << 100 * sum / std::size(kRows)
                             << " %");
  CHECK(sum / std::size(kRows) <= 0.05);
}
