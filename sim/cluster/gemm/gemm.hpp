// The time of a matrix product on a device, by the model that the profile names.
//
// A model is a closed form over its constants (GemmProfile::form); docs/how-to-add.md says what
// another one touches. All of them take
//   t = overhead + (tc^p + tm^p)^(1/p), p the profile's roundness, with compute time tc and
//   tm = bytes / (bandwidth * memory_efficiency),
// and differ in tc, and in what splitting a product costs on top. The profile's factors for
// training, gradients and groups come on top (sim/cluster/kernel_time.hpp).
#pragma once

#include "sim/core/quantity.hpp"
#include "sim/ops/work.hpp"
#include "sim/scenario/gpu.hpp"

namespace stepsim {

/// m x n elements of k summands each, `batch` times.
struct GemmShape {
  double m = 0, n = 0, k = 0, batch = 1;

  double flops() const { return 2 * m * n * k * batch; }
};

/// Tiles that the kernels of a library compute at once.
enum class TileSet { gemm, convolution };

/// One kernel: what it computes, the bytes it moves, and what its library may choose from.
struct GemmKernel {
  GemmShape shape;
  double bytes = 0;
  TileSet tiles = TileSet::gemm;
  bool may_split = true;  ///< k into slices that are added up
  double slower = 1;      ///< compute time over that of operands that feed tensor cores best
};

/// What a model has to know of the device.
struct GemmDevice {
  double sms = 1;
  BytesPerSecond bandwidth;  ///< of memory, datasheet
  bool large_tiles = false;  ///< libraries have tiles of 256 x 256
};

GemmDevice gemm_device(const GpuProfile& gpu);

/// Batches fill a device; libraries do not split them. Of fp8 operands the result is bf16.
GemmKernel gemm_kernel(const Gemm& gemm);

/// Joins compute and memory time, both greater than 0.
double joined_seconds(double compute, double memory, double roundness);

/// Never shorter for a larger m, n or k, but for a correction, which allows a few percent.
Seconds gemm_seconds(const GemmKernel& kernel, const GemmProfile& profile,
                     const GemmDevice& device);

}  // namespace stepsim
