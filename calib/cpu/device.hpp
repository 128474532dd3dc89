// What this machine says of its CPU.
#pragma once

#include <string>

#include "sim/measurement/device_facts.hpp"

namespace stepsim::cpu {

/// One core as a device, of `ranks` at work. What cannot be read is 0, or "CPU".
calib::DeviceFacts read_device(int ranks);

/// The "model name" of /proc/cpuinfo, or "CPU" where there is none.
std::string model_name(const std::string& cpuinfo);

}  // namespace stepsim::cpu
