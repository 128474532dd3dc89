// Makes random data: a hash of each element's place.
#include <algorithm>

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include "calib/cuda/check.hpp"
#include "calib/cuda/kernels.hpp"

namespace stepsim::calib::cuda {
namespace {

/// The mixing function of SplitMix64 (Steele, Lea and Flood 2014, figure 17).
__device__ std::uint64_t mix(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

/// A number of about a normal distribution: the sum of four uniform numbers (Irwin and Hall) has
/// mean 2 and variance 1/3.
__device__ float about_normal(std::uint64_t bits) {
  float sum = 0;
  for (int i = 0; i < 4; ++i) sum += static_cast<float>((bits >> (16 * i)) & 0xffff) / 65536.0f;
  return (sum - 2.0f) * 1.7320508f;
}

template <class T>
__global__ void fill(T* out, std::int64_t elements, std::uint64_t seed) {
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t i = blockIdx.x * static_cast<std::int64_t>(blockDim.x) + threadIdx.x;
       i < elements; i += step)
    out[i] = T(about_normal(mix(seed * 0x9e3779b97f4a7c15 + static_cast<std::uint64_t>(i))));
}

template <class T>
void fill_as(void* memory, std::int64_t elements, std::uint64_t seed, cudaStream_t stream) {
  constexpr int kThreads = 256;
  const std::int64_t blocks = std::min<std::int64_t>((elements + kThreads - 1) / kThreads, 65535);
  fill<<<static_cast<unsigned>(blocks), kThreads, 0, stream>>>(static_cast<T*>(memory), elements,
                                                               seed);
}

}  // namespace

void fill_random(void* memory, Precision dtype, std::int64_t elements, std::uint64_t seed,
                 cudaStream_t stream) {
  switch (dtype) {
    case Precision::bf16:
      fill_as<__nv_bfloat16>(memory, elements, seed, stream);
      break;
    case Precision::fp16:
      fill_as<__half>(memory, elements, seed, stream);
      break;
    case Precision::tf32:
    case Precision::fp32:
      fill_as<float>(memory, elements, seed, stream);
      break;
    case Precision::fp8:
      fill_as<__nv_fp8_e4m3>(memory, elements, seed, stream);
      break;
  }
  check(cudaGetLastError(), "launch of the random fill");
}

}  // namespace stepsim::calib::cuda
