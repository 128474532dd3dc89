// Products of row-major float matrices by OpenBLAS, on one thread.
#pragma once

#include <cstdint>
#include <string>

namespace stepsim::cpu {

/// The forward pass of a linear layer and its two gradients, by how A and B lie in memory.
enum class Pass {
  forward,          ///< C[m,n] = A[m,k] B, B lies as [n,k] (TN)
  input_gradient,   ///< B lies as [k,n] (NN)
  weight_gradient,  ///< A lies as [k,m], B as [k,n] (NT)
};

struct Product {
  std::int64_t m, n, k;
};

/// Computes C = A B, or C += A B where `accumulate`.
void multiply(Pass pass, const Product& shape, const float* a, const float* b, float* c,
              bool accumulate);

/// Makes OpenBLAS multiply on the calling thread alone. To be called once, before the first
/// product.
void use_one_thread();

/// The version as the library says it: "OpenBLAS 0.3.21 ... SkylakeX ...".
std::string blas_version();

}  // namespace stepsim::cpu
