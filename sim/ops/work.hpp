// What one kernel does, before anyone asks how long it takes: shapes, FLOPs and bytes.
#pragma once

#include <cstdint>
#include <string>
#include <variant>

#include "sim/core/quantity.hpp"
#include "sim/scenario/gpu.hpp"

namespace stepsim {

/// C[m,n] += A[m,k] B[k,n], `batch` times.
struct Gemm {
  std::int64_t m = 0, n = 0, k = 0;
  std::int64_t batch = 1;
  bool weight_gradient = false;  ///< accumulates into the gradient buffer
  Precision precision = Precision::bf16;

  Flops flops() const {
    return Flops{2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k) *
                 static_cast<double>(batch)};
  }
};

/// One fused (flash) attention kernel over `batch` sequences; FLOPs are those of the causal half.
struct FusedAttention {
  std::string kernel;  ///< an attention kernel of the GPU's profile
  std::int64_t batch = 1, heads = 0, head_dim = 0, sequence = 0;
  bool backward = false;  ///< 2.5 times the FLOPs: five products instead of two

  Flops flops() const {
    const double forward = 2.0 * static_cast<double>(batch * heads * head_dim) *
                           static_cast<double>(sequence) * static_cast<double>(sequence);
    return Flops{backward ? 2.5 * forward : forward};
  }
};

/// Which of the profile's memory rates a kernel reaches.
enum class MemoryRate { elementwise, norm, softmax, dropout, loss, optimizer };

/// A kernel whose time is that of the bytes it reads and writes.
struct MemoryBound {
  Bytes bytes;
  MemoryRate rate = MemoryRate::elementwise;
};

using Work = std::variant<Gemm, FusedAttention, MemoryBound>;

}  // namespace stepsim
