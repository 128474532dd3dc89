// What this machine says about its CPU.
#pragma once

#include <cstdint>

#include "sim/calibrate/measurement/device_facts.hpp"

namespace stepsim::cpu {

/// One core as a device, where `ranks` cores are at work. What cannot be read is 0, or "CPU".
DeviceFacts read_device(int ranks);

/// The bytes of the largest cache, which all cores of a socket share on most machines.
std::int64_t last_cache_bytes();

}  // namespace stepsim::cpu
