// /proc and sysconf.
#include "calib/cpu/device.hpp"

#include <algorithm>
#include <fstream>
#include <sstream>

#include <unistd.h>

namespace stepsim::cpu {
namespace {

/// Where the caches are not described: larger than most.
constexpr std::int64_t kUsualCache = std::int64_t{32} << 20;

std::int64_t last_cache() {
  const long largest = std::max(sysconf(_SC_LEVEL3_CACHE_SIZE), sysconf(_SC_LEVEL2_CACHE_SIZE));
  return largest > 0 ? largest : kUsualCache;
}

}  // namespace

std::string model_name(const std::string& cpuinfo) {
  std::istringstream lines(cpuinfo);
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind("model name", 0) != 0) continue;
    const auto colon = line.find(": ");
    if (colon != std::string::npos) return line.substr(colon + 2);
  }
  return "CPU";
}

calib::DeviceFacts read_device(int ranks) {
  std::ifstream file("/proc/cpuinfo");
  std::ostringstream text;
  text << file.rdbuf();
  calib::DeviceFacts device;
  device.name = model_name(text.str());
  device.sms = 1;
  device.memory_bytes = std::max(0L, sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE);
  device.l2_bytes = last_cache();
  device.gpus = ranks;
  return device;
}

}  // namespace stepsim::cpu
