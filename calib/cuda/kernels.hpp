// The harness's own kernels, as functions of the host. All functions throw CudaFailure when a
// launch fails.
#pragma once

#include <cstdint>

#include <cuda_runtime_api.h>

#include "sim/calibrate/measurement/point_words.hpp"

namespace stepsim::calib::cuda {

/// Fills memory with numbers of about a normal distribution with mean 0 and deviation 1, which
/// differ by `seed`. Zeros or constants would not do: fewer bits flip, the chip draws less power
/// and clocks higher than it does with the data of a training.
void fill_random(void* memory, Precision dtype, std::int64_t elements, std::uint64_t seed,
                 cudaStream_t stream);

/// The buffers of a kernel that moves bytes; buffers that an operation does not need may be null.
struct MemoryBuffers {
  void* in = nullptr;      ///< copy, add, sum, norm, softmax, dropout, cross_entropy
  void* second = nullptr;  ///< add
  void* out = nullptr;     ///< all but adam; sum and cross_entropy write little of it
  void* mask = nullptr;    ///< dropout: a byte an element
  void* parameter = nullptr;
  void* gradient = nullptr;
  void* first_moment = nullptr;
  void* second_moment = nullptr;  ///< adam: not negative
};

/// Launches a kernel that moves bytes. `dtype` is bf16 or fp32 (adam: fp32), `columns` a multiple
/// of 8, and a row of norm and softmax at most 32 KiB. Throws NotOffered for other sizes and types.
void launch_memory(MemoryOp op, Precision dtype, const MemoryBuffers& buffers, std::int64_t rows,
                   std::int64_t columns, cudaStream_t stream);

/// Launches one thread that does nothing.
void launch_empty(cudaStream_t stream);

/// Launches one thread that waits for `seconds` by the GPU's clock of nanoseconds.
void launch_wait(double seconds, cudaStream_t stream);

}  // namespace stepsim::calib::cuda
