// The kernels of a training step that only move memory, as plain loops over floats.
//
// stepsim-measure-cpu measures this code, and the trainer of validate/trainer runs it. Each comment
// counts the tensors that are read and written; all have `count` elements.
#pragma once

#include <cstddef>

namespace stepsim::cpu {

/// Copies a tensor: 1 read, 1 written.
void copy(const float* from, float* to, std::size_t count);
/// Adds two tensors: 2 read, 1 written.
void add(const float* a, const float* b, float* sum, std::size_t count);
/// The larger of x and 0: 1 read, 1 written.
void relu(const float* x, float* y, std::size_t count);
/// The gradient of relu: 2 read, 1 written, which may be `output_gradient`.
void relu_backward(const float* x, const float* output_gradient, float* input_gradient,
                   std::size_t count);
/// Multiplies a tensor by a factor in place: 1 read, 1 written.
void scale(float* x, float factor, std::size_t count);
/// Sets a tensor to 0: 1 written.
void clear(float* x, std::size_t count);
/// The sum of the squares of the difference, which is kept: 2 read, 1 written.
double squared_error(const float* output, const float* target, float* difference,
                     std::size_t count);
/// The gradient of the squared error, 2 (output - target) * factor: 2 read, 1 written.
void squared_error_backward(const float* output, const float* target, float* gradient, float factor,
                            std::size_t count);

struct AdamState {
  float* weights;
  const float* gradients;
  float *first_moment, *second_moment;
};
/// One update by Adam (Kingma and Ba 2014, algorithm 1) at step 1, 2, ...: 4 read, 3 written.
void adam(const AdamState& state, float learning_rate, int step, std::size_t count);

}  // namespace stepsim::cpu
