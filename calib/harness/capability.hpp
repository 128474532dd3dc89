// What a GPU cannot do, known before it is tried.
#pragma once

#include <string>

#include "sim/measurement/device_facts.hpp"
#include "sim/measurement/point.hpp"

namespace stepsim::calib {

/// Libraries that the harness was built with, beside cuBLASLt.
struct Libraries {
  bool attention = false;    ///< cuDNN and its C++ frontend
  bool collectives = false;  ///< NCCL
};

/// Empty, or a short reason that many points share: "8 GPUs", "no fp8 here".
std::string why_left_out(const Point& point, const DeviceFacts& device, const Libraries& libraries);

}  // namespace stepsim::calib
