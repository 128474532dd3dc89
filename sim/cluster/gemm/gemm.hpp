// The time of a matrix product on a device, by the model that the profile names.
//
// A model is a closed form over its constants (GemmProfile::form); docs/how-to-add.md says what
// another model touches. All models take
//   t = overhead + (tc^p + tm^p)^(1/p), p the profile's roundness, with compute time tc and
//   tm = bytes / (bandwidth * memory_efficiency).
// They differ in tc, and in what splitting a product costs on top. The profile's factors for
// training, gradients and groups multiply the result (sim/cluster/kernel_time.hpp).
#pragma once

#include "sim/core/quantity.hpp"
#include "sim/ops/work.hpp"
#include "sim/scenario/gpu.hpp"

namespace stepsim {

/// The shape of a product: m x n elements of k summands each, `batch` times.
struct GemmShape {
  double m = 0, n = 0, k = 0, batch = 1;

  double flops() const { return 2 * m * n * k * batch; }
};

/// The set of tiles that the kernels of a library choose from.
enum class TileSet { gemm, convolution };

/// One kernel: what it computes, the bytes it moves, and what its library may choose from.
struct GemmKernel {
  GemmShape shape;
  double bytes = 0;
  TileSet tiles = TileSet::gemm;
  bool may_split = true;  ///< true: k may be cut into slices that are added up
  double slower = 1;      ///< compute time over that of operands that feed tensor cores best
};

/// What a model has to know about the device.
struct GemmDevice {
  double sms = 1;
  BytesPerSecond bandwidth;  ///< memory bandwidth by the datasheet
  bool large_tiles = false;  ///< true: libraries have tiles of 256 x 256
};

GemmDevice gemm_device(const GpuProfile& gpu);

/// The kernel of a product. Batches fill a device, so that libraries do not split them. Operands in
/// fp8 give a result in bf16.
GemmKernel gemm_kernel(const Gemm& gemm);

/// Joins compute and memory time, both greater than 0.
double joined_seconds(double compute, double memory, double roundness);

/// The time of a kernel. It is never shorter for a larger m, n or k, except by a correction, which
/// may differ by a few percent.
Seconds gemm_seconds(const GemmKernel& kernel, const GemmProfile& profile,
                     const GemmDevice& device);

}  // namespace stepsim
