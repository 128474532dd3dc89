// Adds the kernels of clamps to the activation of experts, as GPT-OSS has them: the gate is at most
// 7, what it weighs between -7 and 7, and then shifted by 1 (openai/gpt-oss
// gpt_oss/torch/model.py, swiglu).
//
// Megatron-LM's fused activation takes both halves when they are clamped and joined again by
// operators of PyTorch, and the shift as a tensor that is copied to the GPU at each call, for which
// the host waits (NVIDIA/Megatron-LM megatron/core/fusions/fused_bias_geglu.py,
// weighted_bias_quick_geglu_impl). Elsewhere each operation is a kernel, with the slope of the
// sigmoid (huggingface/transformers src/transformers/models/gpt_oss/modeling_gpt_oss.py,
// GptOssExperts; that its halves lie column by column is left out).
#include "sim/ops/layer/expert_clamps.hpp"

#include <span>
#include <vector>

#include "sim/ops/kernels.hpp"

namespace stepsim {
namespace {

Items each(const char* name, double one, std::span<const double> tensors) {
  Items items;
  for (const double count : tensors) items.emplace_back(memory_bound(name, count * one));
  return items;
}

void prepend(Items& items, const Items& more) {
  items.insert(items.begin(), more.begin(), more.end());
}

/// Tensors of the activation's output that are read and written backward. A half is compared with
/// each of its bounds, which leaves a byte an element, and its gradient is picked where it is within:
/// one half has one bound; the other has two, whose comparisons are joined.
std::vector<double> backward_clamps(const Pass& pass) {
  const double flag = 1 / pass.element();
  const double compare = 1 + flag, join = 3 * flag, pick = flag + 2;
  return {compare, pick, compare, compare, join, pick};
}

/// Whether the shift is copied to the GPU, for which the host waits: by Megatron-LM's fused function.
bool waits_for_shift(const Pass& pass) {
  return pass.megatrons_experts && pass.style->has_fusion_switches;
}

}  // namespace

Bytes add_clamps(ActivationKernels& kernels, const Pass& pass, double one) {
  if (!pass.clamps_apart) return {};
  constexpr const char* kForward = "experts activation clamp";
  constexpr const char* kBackward = "experts activation clamp backward";
  constexpr double kClamp = 2, kJoin = 4, kTimes = 3, kTimesBackward = 3, kSum = 3, kNumber = 2;
  Items before = each(kForward, one, std::vector{kClamp, kClamp});
  if (waits_for_shift(pass)) {
    append(before, each(kForward, one, std::vector{kJoin}));
    before.emplace_back(memory_bound("experts activation shift", pass.element()));
    before.emplace_back(HostRead{});
    prepend(kernels.forward, before);
    append(kernels.backward, each(kBackward, one, backward_clamps(pass)));
    append(kernels.backward, each(kBackward, one, std::vector{kJoin}));
    return Bytes{2 * one};  // both halves, before they are clamped
  }
  // The slope times the gate, the gate times its sigmoid, and the shift; backward both gradients of
  // that product, the slope's, and the sum of what comes to the gate.
  append(before, each(kForward, one, std::vector{kNumber, kTimes, kNumber}));
  prepend(kernels.forward, before);
  append(kernels.backward,
         each(kBackward, one, std::vector{kTimesBackward, kTimesBackward, kNumber, kSum}));
  append(kernels.backward, each(kBackward, one, backward_clamps(pass)));
  return Bytes{3 * one};  // the clamped gate, its sigmoid, and what is shifted
}

}  // namespace stepsim
