// A matrix product by cuBLASLt.
#pragma once

#include <memory>

#include <cuda_runtime_api.h>

#include "sim/measurement/point.hpp"

namespace stepsim::calib::cuda {

/// One shape, ready to be launched on the current device. The algorithm is the first that
/// cuBLASLt's heuristic proposes, which is what PyTorch runs.
class Product {
 public:
  /// Throws NotOffered when cuBLASLt has no algorithm for it or the memory does not suffice.
  explicit Product(const GemmPoint& point);
  ~Product();
  Product(const Product&) = delete;
  Product& operator=(const Product&) = delete;

  /// C = A B, or C += A B where the point accumulates: `input` is A, `weights` is B and `result` C,
  /// which lie in the device's memory.
  void enqueue(cudaStream_t stream, const void* weights, const void* input, void* result) const;

 private:
  struct Operation;
  std::unique_ptr<Operation> operation_;
};

}  // namespace stepsim::calib::cuda
