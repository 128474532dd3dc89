// The trainer's kernels over memory on a GPU, as functions of the host. Each does what the loop of
// its name in calib/cpu/loops.hpp does. All functions throw CudaFailure when a launch fails.
#pragma once

#include <cstddef>

#include <cuda_runtime_api.h>

namespace stepsim::calib::cuda {

void relu(const float* x, float* y, std::size_t count, cudaStream_t stream);
void relu_backward(const float* x, const float* output_gradient, float* input_gradient,
                   std::size_t count, cudaStream_t stream);
void scale(float* x, float factor, std::size_t count, cudaStream_t stream);
/// Adds the sum of squares to `sum`, a double in the device's memory.
void squared_error(const float* output, const float* target, float* difference, double* sum,
                   std::size_t count, cudaStream_t stream);
void squared_error_backward(const float* output, const float* target, float* gradient, float factor,
                            std::size_t count, cudaStream_t stream);

struct AdamArrays {
  float* weights;
  const float* gradients;
  float *first_moment, *second_moment;
};
/// One update by Adam at step 1, 2, ...
void adam(const AdamArrays& state, float learning_rate, int step, std::size_t count,
          cudaStream_t stream);

}  // namespace stepsim::calib::cuda
