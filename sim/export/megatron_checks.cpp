// Rules of Megatron-LM (NVIDIA/Megatron-LM, core_v0.19.0 and d98e8a64d:
// megatron/training/arguments.py, validate_args; megatron/core/transformer/transformer_config.py
// and megatron/core/optimizer/optimizer_config.py, __post_init__).
#include <string_view>

#include "sim/export/checks.hpp"

namespace stepsim {
namespace {

std::vector<Check> of_stages(const Pipeline& pipeline) {
  return {{pipeline.stages == 2 && pipeline.chunks > 1 && !pipeline.overlap_p2p,
           "parallelism.pipeline.overlap_p2p: false: megatron interleaves 2 stages only where "
           "transfers run beside compute"}};
}

std::vector<Check> of_experts(const Scenario& s, const Transformer& shape) {
  const ExpertParallel& expert = s.parallelism.expert;
  const Training& t = s.training;
  const bool overlaps = shape.experts && expert.overlap.value_or(false);
  const bool is_wide = t.precision == Precision::fp32 || t.precision == Precision::tf32;
  const std::string key = "parallelism.expert.overlap: true: ";
  return {{overlaps && is_wide, key + "megatron has it in bf16 and fp16 alone"},
          {overlaps && t.recompute.kind == Recompute::full, key + "not with recompute: full"},
          {overlaps && t.recompute.repeats(RecomputeModule::moe),
           key + "not with recompute of the module moe"},
          {shape.experts && shape.bias && s.parallelism.tensor > 1,
           "parallelism.tensor: megatron splits no experts that have biases"}};
}

/// Layers of two parts are those of a GPT, attention or a delta net and then an MLP or experts, and a
/// depth of multi-token prediction is like the last one.
bool is_of_gpt(const Transformer& shape) {
  const HybridLayers& hybrid = *shape.hybrid;
  const std::string_view pattern = hybrid.pattern;
  if (hybrid.parts != 2) return false;
  for (std::size_t i = 0; i < pattern.size(); i += 2) {
    if ((pattern[i] != 'G' && pattern[i] != '*') ||
        (pattern[i + 1] != '-' && pattern[i + 1] != 'E'))
      return false;
  }
  return shape.mtp_layers == 0 || pattern.ends_with(hybrid.mtp_pattern);
}

/// Where each letter is a layer, stages are parted by | in the pattern, or equal.
std::vector<Check> of_patterns(const Pipeline& pipeline, const Transformer& shape) {
  const HybridLayers& hybrid = *shape.hybrid;
  const bool deals = pipeline.chunks > 1 || !pipeline.layers.empty();
  return {{hybrid.parts == 1 && deals,
           "parallelism.pipeline: stages of a pattern's layers are written where they are equal "
           "and have one chunk"},
          {hybrid.parts > 1 && !is_of_gpt(shape),
           "model.hybrid.parts: megatron has layers of two parts where the first is attention or a "
           "gated delta net and the second an MLP or experts"}};
}

std::vector<Check> of_training(const Scenario& s) {
  const Training& t = s.training;
  const bool is_delayed = t.precision == Precision::fp8 && t.fp8_scaling == Fp8Scaling::delayed;
  const bool repeats = t.recompute.repeats(RecomputeModule::layernorm) ||
                       t.recompute.repeats(RecomputeModule::moe_act);
  const bool offloads = s.parallelism.data.offload_optimizer;
  const std::string key = "parallelism.data.offload_optimizer: true: ";
  return {{t.lora.has_value(),
           "training.lora: pretrain_gpt.py trains all weights; Megatron-Bridge has LoRA"},
          {is_delayed && repeats,
           "training.recompute.modules: megatron repeats no layernorm or moe_act with "
           "fp8_scaling: delayed"},
          {offloads && t.optimizer != "adam", key + "megatron offloads adam alone"},
          {offloads && t.fp8_parameters && !is_delayed,
           key + "beside fp8_parameters megatron has it with fp8_scaling: delayed alone"}};
}

}  // namespace

void refuse_what_megatron_checks(const Scenario& scenario) {
  const auto& shape = std::get<Transformer>(scenario.model.shape);
  std::vector<Check> checks = of_stages(scenario.parallelism.pipeline);
  const Pipeline& pipeline = scenario.parallelism.pipeline;
  for (auto& more : {of_experts(scenario, shape), of_training(scenario),
                     shape.hybrid ? of_patterns(pipeline, shape) : std::vector<Check>{}})
    checks.insert(checks.end(), more.begin(), more.end());
  throw_refusals(checks);
}

}  // namespace stepsim
