// A matrix product by cuBLASLt.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <memory>

#include <cuda_runtime_api.h>

#include "sim/calibrate/measurement/point.hpp"

namespace stepsim::calib::cuda {

/// The bytes, powers of two, that the addresses of the operands are multiples of. cuBLASLt takes
/// 256 for granted (CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES and its like), as cudaMalloc gives.
struct Alignments {
  std::uint32_t weights = 256, input = 256, result = 256;
  auto operator<=>(const Alignments&) const = default;
};
/// The largest power of two that the address is a multiple of; 256 at most.
std::uint32_t alignment_of(const void* address);

/// A product of one shape, ready to be launched on the current device. The algorithm is the first
/// that cuBLASLt's heuristic proposes, which is the one that PyTorch runs.
class Product {
 public:
  /// The workspace that PyTorch gives cuBLASLt from Hopper on
  /// (aten/src/ATen/cuda/CublasHandlePool.cpp).
  static constexpr std::size_t kWorkspaceBytes = std::size_t{32} << 20;

  /// Chooses an algorithm. Throws NotOffered when cuBLASLt has none for the shape.
  explicit Product(const GemmPoint& point, const Alignments& alignments = {});
  ~Product();
  Product(const Product&) = delete;
  Product& operator=(const Product&) = delete;

  /// Enqueues C = A B, or C += A B where the point accumulates: `input` is A, `weights` is B and
  /// `result` C, which lie in the device's memory. Products that run one after the other may share
  /// a workspace. REQUIRES: addresses as aligned as said; a workspace of kWorkspaceBytes.
  void enqueue(cudaStream_t stream, const void* weights, const void* input, void* result,
               void* workspace) const;

 private:
  struct Operation;
  std::unique_ptr<Operation> operation_;
};

}  // namespace stepsim::calib::cuda
