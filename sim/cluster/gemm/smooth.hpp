// The smooth model of matrix products: one rate that saturates, for devices whose tiles are small
// against the matrices.
//   tc = F / (peak * efficiency * s(m, half_m) * s(n, half_n) * s(k, half_k)), s(x, h) = x / (x +
//   h)
// with F = 2mnk FLOPs of each product of a batch. Nothing is split, nothing is quantised.
// Source of the form: derived; a panel of x rows costs its x rows and a fixed part of h more.
#pragma once

#include "sim/cluster/gemm/gemm.hpp"

namespace stepsim {

Seconds gemm_seconds(const GemmKernel& kernel, const GemmProfile& profile, const SmoothGemm& form,
                     const GemmDevice& device);

}  // namespace stepsim
