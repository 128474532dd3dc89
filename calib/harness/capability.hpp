// What a device cannot do, known before it is tried.
#pragma once

#include <string>

#include "sim/calibrate/measurement/device_facts.hpp"
#include "sim/calibrate/measurement/point.hpp"

namespace stepsim::calib {

/// The libraries that the harness was built with, beside cuBLASLt.
struct Libraries {
  bool collectives = false;  ///< true: NCCL is there
};

/// Why a point is left out, as a short reason that many points share: "they need 8 GPUs, here 4",
/// "larger than the memory". Empty where it is not left out.
std::string why_left_out(const Point& point, const DeviceFacts& device, const Libraries& libraries);

}  // namespace stepsim::calib
