// The shipped profile that a GPU is most like.
#pragma once

#include <string>

#include "sim/calibrate/measurement/device_facts.hpp"
#include "sim/scenario/load.hpp"

namespace stepsim {

/// Whether a driver's name is that of the profile's GPU: "NVIDIA H100 80GB HBM3" has "h100", as a
/// word of its own.
bool is_named(const std::string& device, const std::string& profile);

/// The one whose name, else whose generation is that of the device, and of several the nearest in
/// memory; "": none, or its memory would have to tell and is not known. A compute capability or
/// memory of 0 is not known; the name may say the memory.
std::string nearest_profile(const DeviceFacts& device, const Library& library);

}  // namespace stepsim
