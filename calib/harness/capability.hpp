// What a device cannot do, known before it is tried.
#pragma once

#include <string>

#include "sim/calibrate/measurement/device_facts.hpp"
#include "sim/calibrate/measurement/point.hpp"

namespace stepsim::calib {

/// What the harness was built with, beside cuBLASLt.
struct Libraries {
  bool collectives = false;  ///< NCCL
};

/// Empty, or a short reason that many points share: "they need 8 GPUs, here 4", "larger than the
/// memory".
std::string why_left_out(const Point& point, const DeviceFacts& device, const Libraries& libraries);

}  // namespace stepsim::calib
