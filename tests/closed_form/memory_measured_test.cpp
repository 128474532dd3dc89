// Measured peaks of Megatron-LM with Transformer Engine on 8 B200: MooreThreads/SimuMax@4dcaae5
// docs/b200/b200_release_v1.2_summary.md, torch.cuda.max_memory_allocated, the largest of all
// ranks.
//
// 16-bit weights, fp32 gradients, distributed optimizer, no recompute, micro-batch 1; experts with
// capacity 1, padded; context parallelism by all-to-all. The table has 43 rows; those that differ
// in the number of micro-batches alone have the same peak and are one row here. Llama 405B has 16
// key and value heads there, and DeepSeek-V3 one dense layer.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "sim/plan/memory/memory.hpp"
#include "tests/closed_form/harness.hpp"

using namespace stepsim;

namespace {

constexpr const char* kLlama70 = "{base: llama3-70b, layers: 12}";
constexpr const char* kLlama405 = "{base: llama3-405b, layers: 4, kv_heads: 16}";
constexpr const char* kDeepSeek2 = "{base: deepseek-v2, layers: 4}";
constexpr const char* kDeepSeek3 =
    "{base: deepseek-v3, layers: 4, experts: {count: 256, top_k: 8, ffn: 2048, shared_ffn: 2048, "
    "dense_layers: 1}}";

struct Peak {
  const char* model;
  int tensor, stages, context, expert, sequence;
  double measured;  // GiB
};

constexpr Peak kRows[] = {
    {kLlama70, 1, 2, 1, 1, 4096, 66.55},    {kLlama70, 2, 1, 1, 1, 4096, 60.68},
    {kLlama70, 4, 1, 1, 1, 4096, 39.07},    {kLlama70, 8, 1, 1, 1, 4096, 28.29},
    {kDeepSeek2, 1, 1, 1, 8, 4096, 45.63},  {kDeepSeek2, 1, 2, 1, 4, 4096, 44.70},
    {kDeepSeek3, 1, 1, 1, 8, 4096, 104.30}, {kDeepSeek3, 1, 2, 1, 4, 4096, 114.00},
    {kLlama405, 1, 2, 1, 1, 4096, 87.08},   {kLlama405, 2, 1, 1, 1, 4096, 81.59},
    {kLlama405, 4, 1, 1, 1, 4096, 52.89},   {kLlama405, 8, 1, 1, 1, 4096, 38.57},
    {kLlama70, 2, 1, 4, 1, 32768, 68.43},   {kLlama70, 1, 1, 8, 1, 32768, 104.51},
    {kLlama405, 2, 1, 4, 1, 32768, 87.03},  {kLlama405, 1, 1, 8, 1, 32768, 139.22},
    {kLlama70, 2, 1, 4, 1, 131072, 112.67}, {kLlama70, 1, 1, 8, 1, 131072, 147.99},
    {kLlama405, 2, 1, 4, 1, 131072, 118.13}};

std::string yaml(const Peak& row) {
  const int data = 8 / (row.tensor * row.stages * row.context);
  std::string text = fmt::format(
      R"(
model: {}
cluster: dgx-b200
training:
  {{sequence_length: {}, global_batch: {}, precision: bf16, gradients: fp32, attention: cudnn,
   transformer_impl: transformer_engine}}
parallelism:
  tensor: {}
  sequence: {}
  pipeline: {{stages: {}}}
  data: {{sharding: zero1}}
)",
      row.model, row.sequence, 4 * data, row.tensor, row.tensor > 1, row.stages);
  if (row.expert > 1) text += fmt::format("  expert: {{degree: {}, capacity: 1}}\n", row.expert);
  if (row.context > 1)
    text += fmt::format("  context: {{degree: {}, kind: all_to_all}}\n", row.context);
  return text;
}

double allocated(const Peak& row) {
  const Scenario scenario = scenario_of(yaml(row));
  double most = 0;
  for (const StageMemory& stage : memory_by_stage(scenario, build(scenario)))
    most = std::max(most, stage.allocated().gibibytes());
  return most;
}

}  // namespace

TEST_CASE("measured peaks on 8 B200 are met within 8 %, and within 2 % on average") {
  double sum = 0;
  for (const Peak& row : kRows) {
    const double predicted = allocated(row);
    const double error = predicted / row.measured - 1;
    CAPTURE(yaml(row));
    CAPTURE(predicted);
    CAPTURE(row.measured);
    CHECK(std::abs(error) <= 0.08);
    sum += std::abs(error);
  }
  const double mean = sum / static_cast<double>(std::size(kRows));
  MESSAGE("mean error over " << std::size(kRows) << " peaks: " << 100 * mean << " %");
  CHECK(mean <= 0.02);
}
