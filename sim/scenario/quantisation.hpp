// How operands of products become fp8 or nvfp4: scales, copies and bytes.
#pragma once

#include <cstdint>

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

/// The recipe by which tensors are quantised: one of fp8's, or that of nvfp4.
enum class Quantisation { delayed, current, mxfp8, blockwise, nvfp4 };

constexpr Quantisation quantisation_of(Precision precision, Fp8Scaling scaling) {
  if (precision == Precision::nvfp4) return Quantisation::nvfp4;
  switch (scaling) {
    case Fp8Scaling::delayed:
      return Quantisation::delayed;
    case Fp8Scaling::current:
      return Quantisation::current;
    case Fp8Scaling::mxfp8:
      return Quantisation::mxfp8;
    case Fp8Scaling::blockwise:
      return Quantisation::blockwise;
  }
  return Quantisation::delayed;
}

constexpr bool scales_blocks(Quantisation quantisation) {
  return quantisation != Quantisation::delayed && quantisation != Quantisation::current;
}

/// Layers at a model's ends whose products stay in 16 bits beside quantised ones (NVIDIA/Megatron-LM
/// megatron/core/fp8_utils.py, is_first_last_bf16_layer).
struct Bf16Layers {
  std::int64_t first = 1, last = 1;
  /// `layer`: of so many `layers`, from 0 on.
  constexpr bool has(std::int64_t layer, std::int64_t layers) const {
    return layer < first || layer >= layers - last;
  }
  bool operator==(const Bf16Layers&) const = default;
};

/// Bytes of a quantised element. In mxfp8 a block of 32 shares a scale of one byte (OCP
/// Microscaling Formats 1.0, 5.2); blockwise 128 share one in fp32 (DeepSeek-AI 2024, arXiv
/// 2412.19437, section 3.3.2), of weights far more do. In nvfp4 16 share a scale of one byte; the
/// 16 x 16 of a weight's block have one value of it, which is written for each row
/// (NVIDIA/TransformerEngine transformer_engine/pytorch/csrc/quantizer.cpp, NVFP4Quantizer::
/// get_scale_shape).
constexpr double quantised_bytes(Quantisation quantisation) {
  switch (quantisation) {
    case Quantisation::mxfp8:
      return 1 + 1.0 / 32;
    case Quantisation::blockwise:
      return 1 + 4.0 / 128;
    case Quantisation::nvfp4:
      return bytes_per_element(Precision::nvfp4);
    case Quantisation::delayed:
    case Quantisation::current:
      return 1;
  }
  return 1;
}

/// Copies that a quantised tensor has. Hopper needs one by rows and one by columns, because it
/// multiplies only what lies along the sums. Blackwell takes a tensor with one scale either way;
/// blocks with scales of their own lie along rows in one copy and along columns in the other
/// (NVIDIA/TransformerEngine transformer_engine/pytorch/utils.py, is_non_tn_fp8_gemm_supported;
/// pytorch/csrc/quantizer.cpp, Float8Quantizer::create_tensor).
constexpr int quantised_copies(Quantisation quantisation, Architecture architecture) {
  return architecture == Architecture::blackwell && !scales_blocks(quantisation) ? 1 : 2;
}

/// Bytes of a bf16 element that are read before it can be quantised: a scale for the whole tensor
/// needs its largest value. Current scaling has nothing else, nvfp4 has it above the scales of
/// blocks, of the tensor by rows and, by columns, behind the random Hadamard transform, which one
/// kernel finds (transformer_engine/pytorch/csrc/quantizer.cpp, NVFP4Quantizer::quantize_impl,
/// nvte_hadamard_transform_amax).
constexpr double largest_bytes(Quantisation quantisation) {
  return quantisation == Quantisation::current || quantisation == Quantisation::nvfp4 ? 2 : 0;
}

/// Bytes that are moved to quantise one bf16 element into so many copies, its largest value
/// included.
constexpr double cast_bytes(Quantisation quantisation, int copies) {
  return 2 + copies * quantised_bytes(quantisation) + largest_bytes(quantisation);
}

/// Time of a cast over that of its bytes at the rate of element-wise kernels. Nvfp4's transform
/// their operands and round gradients at random: on a B300 Transformer Engine quantises 455 M
/// inputs and 201 M weights in 678 us, 585 M gradients and the weights in 884, inputs and gradients
/// in 1126 (NVIDIA/TransformerEngine@d0067d0 docs/examples/gemm_profiling/gemm_profiling.rst, four
/// products of 15872 tokens with operands quantised within and before), each in one direction,
/// 4.56 B an element at 6.0 TB/s: 1.36, 1.48 and 1.42 times as long. Mxfp8's reach the rate of
/// element-wise kernels (pytorch/ao@36027d8, 5.1 to 5.8 TB/s on a B200).
constexpr double cast_slower(Quantisation quantisation) {
  return quantisation == Quantisation::nvfp4 ? 1.42 : 1;
}

}  // namespace stepsim
