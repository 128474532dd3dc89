// The trainer's kernels over memory, as loops that a compiler vectorises.
#include "calib/cpu/loops.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

namespace stepsim::cpu {

void copy(const float* from, float* to, std::size_t count) {
  std::memcpy(to, from, count * sizeof(float));
}

void add(const float* a, const float* b, float* sum, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) sum[i] = a[i] + b[i];
}

void relu(const float* x, float* y, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) y[i] = x[i] > 0 ? x[i] : 0;
}

void relu_backward(const float* x, const float* output_gradient, float* input_gradient,
                   std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) input_gradient[i] = x[i] > 0 ? output_gradient[i] : 0;
}

void scale(float* x, float factor, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) x[i] *= factor;
}

void clear(float* x, std::size_t count) { std::memset(x, 0, count * sizeof(float)); }

double squared_error(const float* output, const float* target, float* difference,
                     std::size_t count) {
  constexpr std::size_t kLanes = 16;  // sums in parallel, which do not wait for one another
  std::array<float, kLanes> sums = {};
  double total = 0;
  for (std::size_t begin = 0; begin < count; begin += 1024) {
    const std::size_t end = std::min(begin + 1024, count);
    sums.fill(0);
    std::size_t i = begin;
    for (; i + kLanes <= end; i += kLanes) {
      for (std::size_t lane = 0; lane < kLanes; ++lane) {
        const float d = output[i + lane] - target[i + lane];
        difference[i + lane] = d;
        sums[lane] += d * d;
      }
    }
    for (; i < end; ++i) {
      difference[i] = output[i] - target[i];
      sums[0] += difference[i] * difference[i];
    }
    for (const float sum : sums) total += static_cast<double>(sum);
  }
  return total;
}

void squared_error_backward(const float* output, const float* target, float* gradient, float factor,
                            std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) gradient[i] = 2 * factor * (output[i] - target[i]);
}

void adam(const AdamState& state, float learning_rate, int step, std::size_t count) {
  constexpr float kBeta1 = 0.9F, kBeta2 = 0.999F, kEpsilon = 1e-8F;
  const float bias1 = 1 - std::pow(kBeta1, static_cast<float>(step));
  const float bias2 = 1 - std::pow(kBeta2, static_cast<float>(step));
  const float rate = learning_rate / bias1, root = 1 / std::sqrt(bias2);
  float *const w = state.weights, *const m = state.first_moment, *const v = state.second_moment;
  const float* const g = state.gradients;
  for (std::size_t i = 0; i < count; ++i) {
    m[i] = kBeta1 * m[i] + (1 - kBeta1) * g[i];
    v[i] = kBeta2 * v[i] + (1 - kBeta2) * g[i] * g[i];
    w[i] -= rate * m[i] / (std::sqrt(v[i]) * root + kEpsilon);
  }
}

}  // namespace stepsim::cpu
