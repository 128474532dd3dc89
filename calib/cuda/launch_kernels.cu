// Kernels that compute nothing: one that is empty, and one that waits.
#include "calib/cuda/check.hpp"
#include "calib/cuda/kernels.hpp"

namespace stepsim::calib::cuda {
namespace {

__global__ void empty() {}

__device__ unsigned long long nanoseconds() {
  unsigned long long now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
}

__global__ void wait(unsigned long long duration) {
  const unsigned long long begin = nanoseconds();
  while (nanoseconds() - begin < duration) {
  }
}

}  // namespace

void launch_empty(cudaStream_t stream) {
  empty<<<1, 1, 0, stream>>>();
  check(cudaGetLastError(), "launch of an empty kernel");
}

void launch_wait(double seconds, cudaStream_t stream) {
  wait<<<1, 1, 0, stream>>>(static_cast<unsigned long long>(seconds * 1e9));
  check(cudaGetLastError(), "launch of a waiting kernel");
}

}  // namespace stepsim::calib::cuda
