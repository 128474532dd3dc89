// The most that a GPU can do, from its properties: the bound that no measurement may break.
#pragma once

#include <optional>

#include "sim/calibrate/measurement/device_facts.hpp"
#include "sim/calibrate/measurement/point_words.hpp"

namespace stepsim {

/// FLOPs (a multiply-add is two) that an SM finishes in a cycle, without sparsity; nothing for a
/// precision that it lacks or a GPU that is not known.
/// Sources: the white papers of the architectures, in which SMs x clock x this is the peak that is
/// printed (V100 125, A100 312, H100 989, B200 2250, L40S 362 TFLOP/s in half precision).
std::optional<double> flops_per_cycle(int compute_major, int compute_minor, Precision dtype);

/// FLOP/s at the highest clock that the device may take, which is above the datasheet's.
std::optional<double> peak_flops_per_s(const DeviceFacts& device, Precision dtype);

/// Bytes a second of the memory's pins: bus width x clock, twice a cycle.
std::optional<double> peak_bytes_per_s(const DeviceFacts& device);

}  // namespace stepsim
