// The GPU that is measured.
#pragma once

#include <string>

#include "calib/cuda/nvml.hpp"
#include "sim/calibrate/measurement/device_facts.hpp"

namespace stepsim::calib::cuda {

/// Empty when GPU number `device` can be used, else a sentence.
std::string why_no_device(int device);

/// "0000:1b:00.0", for NVML.
std::string bus_id_of(int device);

DeviceFacts read_device(int device, const Nvml& nvml);

/// Of the driver and each library that takes part.
Versions read_versions(const Nvml& nvml);

/// Bytes of the current device that nobody has taken yet.
std::int64_t free_memory();

}  // namespace stepsim::calib::cuda
