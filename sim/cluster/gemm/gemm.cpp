// What the models of matrix products share: the device, the join of times, the choice by form.
#include "sim/cluster/gemm/gemm.hpp"

#include <cmath>
#include <variant>

#include "sim/cluster/gemm/smooth.hpp"
#include "sim/cluster/gemm/tiled.hpp"

namespace stepsim {

GemmDevice gemm_device(const GpuProfile& gpu) {
  return {.sms = static_cast<double>(gpu.sms),
          .bandwidth = gpu.memory_bandwidth,
          .large_tiles = gpu.architecture == Architecture::blackwell};
}

GemmKernel gemm_kernel(const Gemm& gemm) {
  const GemmShape g{static_cast<double>(gemm.m), static_cast<double>(gemm.n),
                    static_cast<double>(gemm.k), static_cast<double>(gemm.batch)};
  const double operands = bytes_per_element(gemm.precision) * (g.m * g.k + g.k * g.n);
  const double written = bytes_per_element(storage_of(gemm.precision));
  const double result = (gemm.adds_to > 0 ? 2 * gemm.adds_to : written) * g.m * g.n;
  return {.shape = g, .bytes = (operands + result) * g.batch, .may_split = gemm.batch == 1};
}

double joined_seconds(double compute, double memory, double roundness) {
  return std::pow(std::pow(compute / memory, roundness) + 1, 1 / roundness) * memory;
}

Seconds gemm_seconds(const GemmKernel& kernel, const GemmProfile& profile,
                     const GemmDevice& device) {
  return std::visit([&](const auto& form) { return gemm_seconds(kernel, profile, form, device); },
                    profile.form);
}

}  // namespace stepsim
