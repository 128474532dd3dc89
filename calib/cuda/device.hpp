// The GPU that is measured.
#pragma once

#include <string>

#include "calib/cuda/nvml.hpp"
#include "sim/calibrate/measurement/device_facts.hpp"

namespace stepsim::calib::cuda {

/// Why GPU number `device` cannot be used, in a sentence; empty when it can.
std::string why_no_device(int device);

/// The address of the GPU by which NVML knows it: "0000:1b:00.0".
std::string bus_id_of(int device);

DeviceFacts read_device(int device, const Nvml& nvml);

/// The versions of the driver and of each library that takes part.
Versions read_versions(const Nvml& nvml);

/// The bytes of the current device that nobody has taken yet.
std::int64_t free_memory();

}  // namespace stepsim::calib::cuda
