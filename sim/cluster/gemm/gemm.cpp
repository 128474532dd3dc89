// What the models of matrix products share: the device, the join, the choice by form.
#include "sim/cluster/gemm/gemm.hpp"

#include <cmath>
#include <variant>

#include "sim/cluster/gemm/smooth.hpp"
#include "sim/cluster/gemm/tiled.hpp"

namespace stepsim {

GemmDevice gemm_device(const GpuProfile& gpu) {
  return {.sms = static_cast<double>(gpu.sms), .bandwidth = gpu.memory_bandwidth};
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
