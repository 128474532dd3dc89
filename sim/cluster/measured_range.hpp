// Whether a kernel is of a size that the GPU's constants were measured at.
#pragma once

#include <string>

#include "sim/ops/work.hpp"
#include "sim/scenario/gpu.hpp"

namespace stepsim {

/// Where a kernel leaves the range of its constants, one end at most: "GEMM k < 256", "attention
/// sequence > 16384". Empty when it is inside, or when the profile does not say what was measured.
/// A GEMM's m and n may change places, for libraries compute the transpose as well. Convolutions
/// have no range: their constants are ratios to GEMMs.
std::string outside_range(const Work& work, const GpuProfile& gpu);

}  // namespace stepsim
