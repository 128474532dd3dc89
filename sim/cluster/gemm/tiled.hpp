// The tiled model of matrix products: tiles in waves over the SMs, with split-K, as fitted in
// calib/ (calib/README.md):
//   tc = waves * 2 tm tn (k/s + k0) / (peak * e(F) * e_tile / SMs), k/s at least 64 when split,
//   e(F) = efficiency * (1 - 0.4 droop F / (F + F_half));
// a split adds t0/2 and 4 m n (s+1) bytes at 1.5 times the bandwidth. Of all tile shapes and
// split-K factors s the fastest is taken. The 0.4, 1/2 and 1.5 are those that the constants were
// fitted with.
#pragma once

#include "sim/cluster/gemm/gemm.hpp"

namespace stepsim {

Seconds gemm_seconds(const GemmKernel& kernel, const GemmProfile& profile, const TiledGemm& form,
                     const GemmDevice& device);

}  // namespace stepsim
