// Reads what /proc and sysconf say about this CPU.
#include "calib/cpu/device.hpp"

#include <algorithm>
#include <fstream>
#include <sstream>

#include <unistd.h>

#include "sim/core/system/cpuinfo.hpp"

namespace stepsim::cpu {
namespace {

/// The cache size where caches are not described: larger than most.
constexpr std::int64_t kUsualCache = std::int64_t{32} << 20;

}  // namespace

std::int64_t last_cache_bytes() {
  const long largest = std::max(sysconf(_SC_LEVEL3_CACHE_SIZE), sysconf(_SC_LEVEL2_CACHE_SIZE));
  return largest > 0 ? largest : kUsualCache;
}

DeviceFacts read_device(int ranks) {
  std::ifstream file("/proc/cpuinfo");
  std::ostringstream text;
  text << file.rdbuf();
  DeviceFacts device;
  const std::string model = cpu_model(text.str());
  device.name = model.empty() ? "CPU" : model;
  device.sms = 1;
  device.memory_bytes = std::max(0L, sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE);
  device.l2_bytes = last_cache_bytes();
  device.gpus = ranks;
  return device;
}

}  // namespace stepsim::cpu
