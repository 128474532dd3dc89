// A matrix product by cuBLASLt, with operands of random numbers.
#pragma once

#include <memory>

#include "calib/cuda/handles.hpp"
#include "calib/cuda/stopwatch.hpp"
#include "sim/calibrate/measurement/point.hpp"

namespace stepsim::calib::cuda {

/// A product of one shape (product.hpp), ready to be launched over `turns` sets of operands on the
/// current device.
class Matmul {
 public:
  /// Makes the operands. Throws NotOffered when cuBLASLt has no algorithm for the shape or the
  /// memory does not suffice.
  Matmul(const GemmPoint& point, int turns);
  ~Matmul();
  Matmul(const Matmul&) = delete;
  Matmul& operator=(const Matmul&) = delete;

  void enqueue(cudaStream_t stream, int turn) const;
  /// Launches that take turns with the sets of operands.
  Batch batch() const;

 private:
  struct Operation;
  int turns_;
  std::unique_ptr<Operation> operation_;
};

}  // namespace stepsim::calib::cuda
