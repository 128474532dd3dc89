// Turns return codes of CUDA and its libraries into exceptions.
#pragma once

#include <stdexcept>
#include <string>

#include <cuda_runtime_api.h>

namespace stepsim::calib::cuda {

/// A failure after which the process can do nothing more on the GPU.
class CudaFailure : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Throws NotOffered where the memory does not suffice, else CudaFailure: "cudaMalloc: ...".
void check(cudaError_t status, const char* call);

}  // namespace stepsim::calib::cuda
