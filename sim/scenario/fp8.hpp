// Where fp8 tensors have their scales from, and who agrees on them.
#pragma once

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

}  // namespace stepsim
