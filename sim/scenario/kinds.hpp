// Kinds of numbers and operations that scenarios, profiles and measurements have in common.
#pragma once

#include <cstdint>

#include "sim/core/error.hpp"
#include "sim/core/names.hpp"

namespace stepsim {

/// `fp8` is E4M3 in forward passes, `nvfp4` is E2M1 with an E4M3 scale for each 16 elements
/// (NVIDIA/TransformerEngine).
enum class Precision { fp32, tf32, fp16, bf16, fp8, nvfp4 };
template <>
inline constexpr auto kNames<Precision> = names_until(Precision::nvfp4, "fp32", "tf32", "fp16",
                                                      "bf16", "fp8", "nvfp4");

/// Bytes of one element in memory, as a kernel reads it (tf32 is stored as fp32). Throws
/// InternalError for nvfp4, of which two share a byte.
constexpr std::int64_t element_bytes(Precision p) {
  switch (p) {
    case Precision::fp32:
    case Precision::tf32:
      return 4;
    case Precision::fp16:
    case Precision::bf16:
      return 2;
    case Precision::fp8:
      return 1;
    case Precision::nvfp4:
      break;
  }
  throw InternalError("an element of nvfp4 is less than a byte");
}
/// As element_bytes; of nvfp4 half a byte, and 1/16 of a byte of scale (arXiv 2509.25149, section
/// 2).
constexpr double bytes_per_element(Precision p) {
  return p == Precision::nvfp4 ? 0.5 + 1.0 / 16 : static_cast<double>(element_bytes(p));
}
/// Whether operands of that type are made of wider tensors, which need scales.
constexpr bool needs_scales(Precision p) { return p == Precision::fp8 || p == Precision::nvfp4; }
inline constexpr double kFp32 = 4;  ///< bytes of a number in fp32

/// `broadcast` and `reduce`: one rank has the message, or gets it. `shift`: each rank passes its
/// bytes to the next one in a ring.
enum class CollectiveOp {
  all_reduce,
  all_gather,
  reduce_scatter,
  broadcast,
  reduce,
  all_to_all,
  shift
};
template <>
inline constexpr auto kNames<CollectiveOp> = names_until(CollectiveOp::shift, "all_reduce",
                                                         "all_gather", "reduce_scatter",
                                                         "broadcast", "reduce", "all_to_all",
                                                         "shift");

/// What a convolution computes: its output, or the gradient of its input or of its weights.
enum class ConvolutionPass { forward, input_gradient, weight_gradient };
template <>
inline constexpr auto kNames<ConvolutionPass> = names_until(ConvolutionPass::weight_gradient,
                                                            "forward", "input_gradient",
                                                            "weight_gradient");

}  // namespace stepsim
