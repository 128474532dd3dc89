// GEMMs on devices whose tiles are small: the constants of the smooth model
// (sim/cluster/gemm/smooth.hpp).
#pragma once

#include "sim/calibrate/fit/sample.hpp"
#include "sim/scenario/gpu.hpp"

namespace stepsim::fit {

/// Least mean |log(modelled / measured)|. The peak is 1.05 times the fastest sample's rate; an
/// accumulated weight gradient has a factor of its own where there are such samples. What is not
/// fitted (precision, memory efficiency, roundness) is as in `start`. REQUIRES: samples of Gemm, at
/// least one.
GemmProfile fit_smooth_gemm(const Samples& samples, GemmProfile start,
                            BytesPerSecond memory_bandwidth);

Model smooth_gemm_model(const GemmProfile& profile, BytesPerSecond memory_bandwidth);

}  // namespace stepsim::fit
