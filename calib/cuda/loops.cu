// Loops over floats: each thread takes every n-th element, with n threads in all.
#include <algorithm>
#include <cmath>

#include "calib/cuda/check.hpp"
#include "calib/cuda/loops.hpp"

namespace stepsim::calib::cuda {
namespace {

constexpr int kThreads = 256;
/// The most blocks of a loop. Judgement: eight for each SM of the largest GPUs keep a GPU's memory
/// busy.
constexpr std::size_t kMostBlocks = 8 * 160;

unsigned blocks_for(std::size_t count) {
  return static_cast<unsigned>(
      std::clamp<std::size_t>((count + kThreads - 1) / kThreads, 1, kMostBlocks));
}

__device__ std::size_t first_element() {
  return static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}
__device__ std::size_t stride() { return static_cast<std::size_t>(gridDim.x) * blockDim.x; }

template <class Each>
__global__ void for_each_element(std::size_t count, Each each) {
  for (std::size_t i = first_element(); i < count; i += stride()) each(i);
}

struct Relu {
  const float* x;
  float* y;
  __device__ void operator()(std::size_t i) const { y[i] = x[i] > 0 ? x[i] : 0; }
};

struct ReluBackward {
  const float *x, *output_gradient;
  float* input_gradient;
  __device__ void operator()(std::size_t i) const {
    input_gradient[i] = x[i] > 0 ? output_gradient[i] : 0;
  }
};

struct Scale {
  float* x;
  float factor;
  __device__ void operator()(std::size_t i) const { x[i] *= factor; }
};

struct SquaredErrorBackward {
  const float *output, *target;
  float* gradient;
  float factor;
  __device__ void operator()(std::size_t i) const {
    gradient[i] = 2 * factor * (output[i] - target[i]);
  }
};

struct Adam {
  AdamArrays state;
  float beta1, beta2, epsilon, rate, root;
  __device__ void operator()(std::size_t i) const {
    const float g = state.gradients[i];
    const float m = beta1 * state.first_moment[i] + (1 - beta1) * g;
    const float v = beta2 * state.second_moment[i] + (1 - beta2) * g * g;
    state.first_moment[i] = m;
    state.second_moment[i] = v;
    state.weights[i] -= rate * m / (sqrtf(v) * root + epsilon);
  }
};

__global__ void squared_error_kernel(const float* output, const float* target, float* difference,
                                     double* sum, std::size_t count) {
  __shared__ double sums[kThreads];
  double own = 0;
  for (std::size_t i = first_element(); i < count; i += stride()) {
    const float d = output[i] - target[i];
    difference[i] = d;
    own += static_cast<double>(d) * static_cast<double>(d);
  }
  sums[threadIdx.x] = own;
  __syncthreads();
  for (unsigned half = kThreads / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) atomicAdd(sum, sums[0]);
}

void check_launch(const char* name) { check(cudaGetLastError(), name); }

template <class Each>
void launch(const char* name, std::size_t count, cudaStream_t stream, Each each) {
  for_each_element<<<blocks_for(count), kThreads, 0, stream>>>(count, each);
  check_launch(name);
}

}  // namespace

void relu(const float* x, float* y, std::size_t count, cudaStream_t stream) {
  launch("relu", count, stream, Relu{x, y});
}

void relu_backward(const float* x, const float* output_gradient, float* input_gradient,
                   std::size_t count, cudaStream_t stream) {
  launch("relu_backward", count, stream, ReluBackward{x, output_gradient, input_gradient});
}

void scale(float* x, float factor, std::size_t count, cudaStream_t stream) {
  launch("scale", count, stream, Scale{x, factor});
}

void squared_error(const float* output, const float* target, float* difference, double* sum,
                   std::size_t count, cudaStream_t stream) {
  squared_error_kernel<<<blocks_for(count), kThreads, 0, stream>>>(output, target, difference, sum,
                                                                   count);
  check_launch("squared_error");
}

void squared_error_backward(const float* output, const float* target, float* gradient, float factor,
                            std::size_t count, cudaStream_t stream) {
  launch("squared_error_backward", count, stream,
         SquaredErrorBackward{output, target, gradient, factor});
}

void adam(const AdamArrays& state, float learning_rate, int step, std::size_t count,
          cudaStream_t stream) {
  // Constants of cpu::adam (calib/cpu/loops.cpp).
  constexpr float kBeta1 = 0.9F, kBeta2 = 0.999F, kEpsilon = 1e-8F;
  const float bias1 = 1 - std::pow(kBeta1, static_cast<float>(step));
  const float bias2 = 1 - std::pow(kBeta2, static_cast<float>(step));
  launch("adam", count, stream,
         Adam{state, kBeta1, kBeta2, kEpsilon, learning_rate / bias1, 1 / std::sqrt(bias2)});
}

}  // namespace stepsim::calib::cuda
