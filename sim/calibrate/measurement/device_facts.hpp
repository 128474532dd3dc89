// What is known about the device and the software of a measurement.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace stepsim {

/// Zero or empty where it could not be read.
struct DeviceFacts {
  std::string name;  ///< "NVIDIA H100 80GB HBM3"
  int compute_major = 0, compute_minor = 0;
  std::int64_t sms = 0;
  std::int64_t memory_bytes = 0;
  std::int64_t l2_bytes = 0;  ///< the last cache before the memory: of a CPU that is its L3
  std::int64_t memory_bus_bits = 0;
  double max_sm_clock_hz = 0, max_memory_clock_hz = 0;
  double power_limit_w = 0;
  std::int64_t gpus = 0;  ///< visible GPUs, this one among them
};

/// "cuda_runtime" -> "13.0", "driver" -> "580.65.06", ...
using Versions = std::map<std::string, std::string>;

/// The key, among the versions of a CPU, of the bytes of memory in which operands took turns.
/// Absent: the memory was larger than the caches.
inline constexpr const char* kWorkingSet = "working_set";

}  // namespace stepsim
