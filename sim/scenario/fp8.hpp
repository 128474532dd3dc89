// How tensors become fp8: their scales, who agrees on them, and the bytes that it takes.
#pragma once

#include "sim/scenario/gpu.hpp"

namespace stepsim {

/// How fp8 tensors get their scales: one a tensor from earlier steps, one a tensor from itself, or
/// from themselves one for each 32 elements, or one for each 128 elements of a row (128 x 128 of
/// weights).
enum class Fp8Scaling { delayed, current, mxfp8, blockwise };

constexpr bool scales_blocks(Fp8Scaling scaling) {
  return scaling == Fp8Scaling::mxfp8 || scaling == Fp8Scaling::blockwise;
}

/// Which ranks agree on the scales of delayed scaling. After each pass an all-reduce finds the
/// largest values of their tensors: over all ranks that share a stage, over the tensor ranks of one
/// replica, or none, so that each rank has scales of its own (NVIDIA/TransformerEngine
/// transformer_engine/pytorch/fp8.py, reduce_and_update_fp8_tensors; NVIDIA/Megatron-LM
/// megatron/core/parallel_state.py, get_amax_reduction_group, and --tp-only-amax-red).
enum class AmaxReduction { all, tensor, none };

/// Bytes of an fp8 element. In mxfp8 a block of 32 shares a scale of one byte (OCP Microscaling
/// Formats 1.0, 5.2); blockwise 128 share one in fp32 (DeepSeek-AI 2024, arXiv 2412.19437, section
/// 3.3.2), of weights far more do.
constexpr double fp8_bytes(Fp8Scaling scaling) {
  switch (scaling) {
    case Fp8Scaling::mxfp8:
      return 1 + 1.0 / 32;
    case Fp8Scaling::blockwise:
      return 1 + 4.0 / 128;
    case Fp8Scaling::delayed:
    case Fp8Scaling::current:
      return 1;
  }
  return 1;
}

/// Copies that a quantised tensor has. Hopper needs one by rows and one by columns, because it
/// multiplies only what lies along the sums. Blackwell takes a tensor with one scale either way;
/// blocks with scales of their own lie along rows in one copy and along columns in the other
/// (NVIDIA/TransformerEngine transformer_engine/pytorch/utils.py, is_non_tn_fp8_gemm_supported;
/// pytorch/csrc/quantizer.cpp, Float8Quantizer::create_tensor).
constexpr int fp8_copies(Fp8Scaling scaling, Architecture architecture) {
  return architecture == Architecture::blackwell && !scales_blocks(scaling) ? 1 : 2;
}

/// Bytes that are moved to quantise one bf16 element into so many copies. Current scaling reads the
/// tensor once more before, to find its largest value.
constexpr double fp8_cast_bytes(Fp8Scaling scaling, int copies) {
  return 2 + copies * fp8_bytes(scaling) + (scaling == Fp8Scaling::current ? 2 : 0);
}

}  // namespace stepsim
