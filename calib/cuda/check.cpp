// Turns a failed call of the CUDA runtime into an exception.
#include "calib/cuda/check.hpp"

#include <fmt/format.h>

#include "calib/harness/not_offered.hpp"

namespace stepsim::calib::cuda {

void check(cudaError_t status, const char* call) {
  if (status == cudaSuccess) return;
  (void)cudaGetLastError();  // clears the error, which the next call would report again
  const std::string text = fmt::format("{}: {}", call, cudaGetErrorString(status));
  if (status == cudaErrorMemoryAllocation) throw NotOffered(text);
  throw CudaFailure(text);
}

}  // namespace stepsim::calib::cuda
