// FLOPs a cycle by architecture, times SMs and clock.
#include "sim/calibrate/measurement/peak.hpp"

#include <algorithm>
#include <iterator>

namespace stepsim {
namespace {

/// 0: the architecture has no such precision.
struct Architecture {
  int major, minor;
  double half, bf16, tf32, fp32, fp8, nvfp4;
};

constexpr Architecture kArchitectures[] = {
    {7, 0, 1024, 0, 0, 128, 0, 0},           // V100: GV100 white paper, 8 tensor cores x 64 FMAs
    {7, 5, 1024, 0, 0, 128, 0, 0},           // T4: Turing white paper
    {8, 0, 2048, 2048, 1024, 128, 0, 0},     // A100: GA100 white paper, 4 x 256 FMAs
    {8, 6, 1024, 1024, 512, 256, 0, 0},      // A40: GA102 white paper, its full rate
    {8, 9, 1024, 1024, 512, 256, 2048, 0},   // L40S: Ada white paper, its full rate
    {9, 0, 4096, 4096, 2048, 256, 8192, 0},  // H100: GH100 white paper, 4 x 512 FMAs
    {10, 0, 8192, 8192, 4096, 256, 16384, 32768},  // B200: 2250 TFLOP/s of 148 SMs at 1.86 GHz
    {10, 3, 8192, 8192, 4096, 256, 16384,
     49152},  // B300: judgement, as B200; half as much more in nvfp4
    {12, 0, 1024, 1024, 512, 256, 2048, 4096},  // RTX PRO 6000: 504 TFLOP/s of 188 SMs at 2.62 GHz
};

double rate_of(const Architecture& architecture, Precision dtype) {
  switch (dtype) {
    case Precision::bf16:
      return architecture.bf16;
    case Precision::fp16:
      return architecture.half;
    case Precision::tf32:
      return architecture.tf32;
    case Precision::fp32:
      return architecture.fp32;
    case Precision::fp8:
      return architecture.fp8;
    case Precision::nvfp4:
      return architecture.nvfp4;
  }
  return 0;
}

}  // namespace

std::optional<double> flops_per_cycle(int compute_major, int compute_minor, Precision dtype) {
  const auto* found = std::ranges::find_if(kArchitectures, [&](const Architecture& known) {
    return known.major == compute_major && known.minor == compute_minor;
  });
  if (found == std::end(kArchitectures)) return {};
  const double rate = rate_of(*found, dtype);
  if (rate == 0) return {};
  return rate;
}

std::optional<double> peak_flops_per_s(const DeviceFacts& device, Precision dtype) {
  const auto rate = flops_per_cycle(device.compute_major, device.compute_minor, dtype);
  if (!rate || device.max_sm_clock_hz <= 0 || device.sms <= 0) return {};
  return *rate * static_cast<double>(device.sms) * device.max_sm_clock_hz;
}

std::optional<double> peak_bytes_per_s(const DeviceFacts& device) {
  if (device.memory_bus_bits <= 0 || device.max_memory_clock_hz <= 0) return {};
  return static_cast<double>(device.memory_bus_bits) / 8 * 2 * device.max_memory_clock_hz;
}

}  // namespace stepsim
