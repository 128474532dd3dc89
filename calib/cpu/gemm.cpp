// Multiplies fp32 matrices by OpenBLAS.
#include "calib/cpu/gemm.hpp"

#include <cblas.h>

namespace stepsim::cpu {

void multiply(Pass pass, const Product& shape, const float* a, const float* b, float* c,
              bool accumulate) {
  const auto m = static_cast<blasint>(shape.m), n = static_cast<blasint>(shape.n),
             k = static_cast<blasint>(shape.k);
  const bool a_turned = pass == Pass::weight_gradient, b_turned = pass == Pass::forward;
  cblas_sgemm(CblasRowMajor, a_turned ? CblasTrans : CblasNoTrans,
              b_turned ? CblasTrans : CblasNoTrans, m, n, k, 1, a, a_turned ? m : k, b,
              b_turned ? k : n, accumulate ? 1.0F : 0.0F, c, n);
}

void use_one_thread() { openblas_set_num_threads(1); }

std::string blas_version() { return openblas_get_config(); }

}  // namespace stepsim::cpu
