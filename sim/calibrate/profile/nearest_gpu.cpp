// Which shipped profile a GPU is like: by its name, else by its generation, and then by memory.
#include "sim/calibrate/profile/nearest_gpu.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <functional>
#include <regex>
#include <vector>

#include "sim/core/words.hpp"
#include "sim/import/node/known_gpu.hpp"

namespace stepsim {
namespace {

/// "a100" of "a100-80"
std::string stem_of(const std::string& profile) { return profile.substr(0, profile.find('-')); }

/// Compute capability to generation: CUDA C++ Programming Guide, compute capabilities.
Architecture architecture_of(const DeviceFacts& device) {
  if (device.compute_major <= 7) return Architecture::volta;
  if (device.compute_major == 8) return Architecture::ampere;
  return device.compute_major == 9 ? Architecture::hopper : Architecture::blackwell;
}

/// The profile nearest in memory among those that suit.
template <class Suits>
std::string nearest_memory(const std::vector<GpuProfile>& gpus, double bytes, Suits&& suits) {
  std::string best;
  double least = INFINITY;
  for (const GpuProfile& gpu : gpus) {
    const double distance = std::abs(gpu.memory.bytes() - bytes);
    if (!suits(gpu) || distance >= least) continue;
    best = gpu.name;
    least = distance;
  }
  return best;
}

/// Bytes of the device's memory: as the driver has it, or from its name ("A100-SXM4-80GB"); 0:
/// unknown. A Grace Hopper's name has the memory of its CPU ("GH200 480GB").
double memory_of(const DeviceFacts& device) {
  if (device.memory_bytes > 0) return static_cast<double>(device.memory_bytes);
  if (device.name.find("GH200") != std::string::npos) return 0;
  std::smatch found;
  const std::regex gigabytes("([0-9]{1,4}) ?GB");
  if (!std::regex_search(device.name, found, gigabytes)) return 0;
  return std::stod(found[1]) * 0x1p30;
}

}  // namespace

bool is_named(const std::string& device, const std::string& profile) {
  const std::string stem = stem_of(profile), name = in_lower_case(device);
  const auto is = [&](std::size_t i, int (*what)(int)) {
    return i < name.size() && what(static_cast<unsigned char>(name[i])) != 0;
  };
  for (std::size_t at = name.find(stem); at != std::string::npos; at = name.find(stem, at + 1)) {
    // A GH200 is no H200, an RTX A1000 no A100; a V100S is a V100.
    const bool begins = at == 0 || !is(at - 1, std::isalnum);
    if (begins && !is(at + stem.size(), std::isdigit)) return true;
  }
  return false;
}

std::string nearest_profile(const DeviceFacts& device, const Library& library) {
  std::vector<std::string> names = known_gpus();
  const auto has_name = [&](const std::string& name) { return is_named(device.name, name); };
  const bool any_named = std::ranges::any_of(names, has_name);
  if (any_named) std::erase_if(names, std::not_fn(has_name));
  if (!any_named && device.compute_major == 0) return "";
  std::vector<GpuProfile> gpus;
  for (const std::string& name : names) gpus.push_back(load_gpu(name, library));
  const double memory = memory_of(device);
  const auto suits = [&](const GpuProfile& gpu) {
    return any_named || gpu.architecture == architecture_of(device);
  };
  if (memory == 0 && std::ranges::count_if(gpus, suits) > 1) return "";
  return nearest_memory(gpus, memory, suits);
}

}  // namespace stepsim
