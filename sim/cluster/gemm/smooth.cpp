// Computes rates that saturate in each dimension.
#include "sim/cluster/gemm/smooth.hpp"

namespace stepsim {

Seconds gemm_seconds(const GemmKernel& kernel, const GemmProfile& profile, const SmoothGemm& form,
                     const GemmDevice& device) {
  const GemmShape& g = kernel.shape;
  // Dividing by the saturation adds to a dimension: x / s(x, h) = x + h.
  const double work = 2 * g.batch * (g.m + form.half_m) * (g.n + form.half_n) * (g.k + form.half_k);
  const double compute =
      kernel.slower * work / (profile.peak.flops_per_second() * profile.efficiency);
  const double memory =
      kernel.bytes / (device.bandwidth.bytes_per_second() * profile.memory_efficiency);
  return profile.overhead + Seconds{joined_seconds(compute, memory, profile.roundness)};
}

}  // namespace stepsim
