// Whether a measurement can be true.
#pragma once

#include <string>

#include "sim/calibrate/measurement/device_facts.hpp"
#include "sim/calibrate/measurement/point_record.hpp"

namespace stepsim {

/// Empty, or a sentence that says which bound it breaks, with both numbers: times that are not
/// positive and in order, FLOP/s above the peak of the architecture at the highest clock, bytes/s
/// above the pins of the memory (for what is larger than the L2 cache), a GEMM that something
/// beside it makes faster.
std::string why_implausible(const Point& point, const Measured& measured,
                            const DeviceFacts& device);

}  // namespace stepsim
