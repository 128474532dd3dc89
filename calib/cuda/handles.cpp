// Allocates memory, and takes time between events.
#include "calib/cuda/handles.hpp"

namespace stepsim::calib::cuda {

DeviceBuffer::DeviceBuffer(std::size_t bytes) {
  void* memory = nullptr;
  check(cudaMalloc(&memory, bytes), "cudaMalloc");
  memory_.reset(static_cast<char*>(memory));
}

PinnedBuffer::PinnedBuffer(std::size_t bytes) {
  void* memory = nullptr;
  check(cudaHostAlloc(&memory, bytes, cudaHostAllocDefault), "cudaHostAlloc");
  memory_.reset(static_cast<char*>(memory));
}

double seconds_between(const Event& begin, const Event& end) {
  float milliseconds = 0;
  check(cudaEventElapsedTime(&milliseconds, begin, end), "cudaEventElapsedTime");
  return static_cast<double>(milliseconds) * 1e-3;
}

void wait_for(cudaStream_t stream, const Event& event) {
  check(cudaStreamWaitEvent(stream, event, 0), "cudaStreamWaitEvent");
}

}  // namespace stepsim::calib::cuda
