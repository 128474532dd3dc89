// The clamps of GPT-OSS's experts: the gate at most 7, what it weighs between -7 and 7 and then
// shifted by 1 (openai/gpt-oss gpt_oss/torch/model.py, swiglu).
//
// Megatron-LM's fused activation takes both halves when they are clamped and joined again by
// operators of PyTorch, and the shift as a tensor that is copied to the GPU at each call, for which
// the host waits (NVIDIA/Megatron-LM megatron/core/fusions/fused_bias_geglu.py,
// weighted_bias_quick_geglu_impl). Where experts are not its own, each operation is a kernel, with
// the slope of the sigmoid (huggingface/transformers
// src/transformers/models/gpt_oss/modeling_gpt_oss.py, GptOssExperts).
#include "sim/ops/layer/expert_clamps.hpp"

#include <array>
#include <span>

#include "sim/ops/kernels.hpp"

namespace stepsim {
namespace {

// Tensors of the activation's output read and written; what a comparison writes has a byte an
// element, half of one in 16 bits. Backward a half is compared with its bounds, and its gradient is
// picked where it is within: below 7 (1.5 and 2.5), and between two bounds, whose comparisons are
// joined (1.5 each, 1.5 and 2.5).
constexpr std::array kClamps{2.0, 2.0};
constexpr std::array kClampsBackward{1.5, 2.5, 1.5, 1.5, 1.5, 2.5};
/// Halves are joined behind the clamps, and their gradients behind those of the clamps.
constexpr std::array kJoin{4.0};
// Forward: the slope (2), the gate's product with its sigmoid (3), the shift (2). Backward: that
// product's gradients (3 each), the slope (2), the sum of both (3).
constexpr std::array kSlope{2.0, 3.0, 2.0};
constexpr std::array kSlopeBackward{3.0, 3.0, 2.0, 3.0};

Items each(const char* name, double one, std::span<const double> tensors) {
  Items items;
  for (const double count : tensors) items.emplace_back(memory_bound(name, count * one));
  return items;
}

void prepend(Items& items, const Items& more) {
  items.insert(items.begin(), more.begin(), more.end());
}

}  // namespace

Bytes add_clamps(ActivationKernels& kernels, const Pass& pass, double one) {
  if (!pass.clamps_apart) return {};
  constexpr const char* kForward = "experts activation clamp";
  constexpr const char* kBackward = "experts activation clamp backward";
  Items before = each(kForward, one, kClamps);
  if (!pass.megatrons_experts) {
    append(before, each(kForward, one, kSlope));
    prepend(kernels.forward, before);
    append(kernels.backward, each(kBackward, one, kSlopeBackward));
    append(kernels.backward, each(kBackward, one, kClampsBackward));
    return Bytes{2 * one};
  }
  append(before, each(kForward, one, kJoin));
  before.emplace_back(memory_bound("experts activation shift", pass.element()));
  before.emplace_back(HostRead{});
  prepend(kernels.forward, before);
  append(kernels.backward, each(kBackward, one, kClampsBackward));
  append(kernels.backward, each(kBackward, one, kJoin));
  return Bytes{2 * one};
}

}  // namespace stepsim
