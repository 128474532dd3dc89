// Cross entropy as each library computes it, in bytes a logit: 2 for 16-bit ones, 4 for fp32.
//
// - megatron (NVIDIA/Megatron-LM megatron/core/tensor_parallel/cross_entropy.py), a chain of
//   element-wise kernels. Forward: cast to fp32 (2+4), maximum (4), subtract it (4+4), exponential
//   (4+4), sum (4), divide (4+4). Backward: scale by the loss gradient (4+4), cast back (4+2).
//   Labels are transposed to the logits' layout, not these, and look up and update one logit a
//   token.
// - megatron_fused (NVIDIA/Megatron-LM megatron/core/fusions/fused_cross_entropy.py), the same by
//   torch.compile. Forward: cast and maximum (2+4), subtract and exponential in place (4+4), sum
//   (4), divide (4+4). Backward: scale by the loss gradient (4+4), cast back (4+2). Predicted
//   logits and sums cross ranks together.
// - torch (pytorch/pytorch aten/src/ATen/native/LossNLL.cpp; autocast runs it in fp32). Forward:
//   cast (2+4), log-softmax (4+4). Backward: the labels' gradient cleared (4), log-softmax
//   backward (4+4+4), cast back (4+2).
// - xentropy (NVIDIA/apex apex/contrib/csrc/xentropy, Dao-AILab/flash-attention csrc/xentropy).
//   Forward: read (2). Backward: read and write (2+2).
// - transformer_engine (NVIDIA/TransformerEngine
//   transformer_engine/common/triton/cross_entropy.py), gradients in place of the logits. Forward:
//   maximum and sum (2), gradients (2+2). Backward: scale by the loss gradient (2+2).
// - flash_attn (Dao-AILab/flash-attention flash_attn/ops/triton/cross_entropy.py, in place).
//   Forward: read (2). Backward: read and write (2+2). Sums of exponentials are gathered and losses
//   added up over ranks.
// - liger (linkedin/Liger-Kernel src/liger_kernel/ops/vocab_parallel_cross_entropy.py). Forward:
//   maximum (2), exponentials in fp32 (2+4). Backward: gradients in their place (4+4), cast back
//   (4+2). Maxima, the labels' logits and sums cross ranks.
// What is kept: the fp32 result of those that are not fused (of the softmax, Korthikanti et al.
// 2022, section 4.3; the 16-bit logits are given up when the loss is known, and backward turns the
// softmax into a gradient in place and casts it), or the logits, in whose place the gradients come.
#include "sim/core/error.hpp"
#include "sim/ops/style/kernels.hpp"

namespace stepsim {

LossTraffic library_loss(CrossEntropy library, double element, bool /*whole*/) {
  const double cast = element + kFp32;
  switch (library) {
    case CrossEntropy::megatron:
      return {cast + 8 * kFp32, 2 * kFp32 + cast, kFp32, 3};
    case CrossEntropy::megatron_fused:
      return {cast + 5 * kFp32, 2 * kFp32 + cast, kFp32, 2};
    case CrossEntropy::torch:
      return {cast + 2 * kFp32, 4 * kFp32 + cast, kFp32, 0};
    case CrossEntropy::xentropy:
      return {element, 2 * element, element, 0};
    case CrossEntropy::transformer_engine:
      return {3 * element, 2 * element, element, 1};
    case CrossEntropy::flash_attn:
      return {element, 2 * element, element, 2};
    case CrossEntropy::liger:
      return {element + cast, 2 * kFp32 + cast, kFp32, 3};
    case CrossEntropy::liger_fused_linear:
    case CrossEntropy::cut_cross_entropy:
      break;  // no logits: layer/fused_linear_loss.cpp
  }
  throw InternalError("a cross entropy without kernels");
}

bool is_open(CrossEntropy library) {
  return library == CrossEntropy::megatron || library == CrossEntropy::torch;
}

double metric_traffic(double element) {
  return library_loss(CrossEntropy::torch, element, true).forward;
}

}  // namespace stepsim
