// Loads NVML's functions by name. Their signatures are those of its API reference (docs.nvidia.com,
// "NVML API Reference Guide"): all return 0 for success, clocks are in MHz, power in mW.
#include "calib/cuda/nvml.hpp"

#include <dlfcn.h>

namespace stepsim::calib::cuda {
namespace {

using Device = void*;
constexpr int kSmClock = 1;  // NVML_CLOCK_SM

}  // namespace

struct Nvml::Library {
  void* handle = nullptr;
  Device device = nullptr;
  int (*shutdown)() = nullptr;
  int (*clock)(Device, int, unsigned*) = nullptr;
  int (*max_clock)(Device, int, unsigned*) = nullptr;
  int (*power)(Device, unsigned*) = nullptr;
  int (*power_limit)(Device, unsigned*) = nullptr;
  int (*driver)(char*, unsigned) = nullptr;

  template <class Function>
  bool find(Function& function, const char* name) {
    function = reinterpret_cast<Function>(dlsym(handle, name));
    return function != nullptr;
  }
};

Nvml::Nvml(const std::string& bus_id) {
  auto found = std::make_unique<Library>();
  found->handle = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
  if (found->handle == nullptr) return;
  int (*init)() = nullptr;
  int (*by_bus_id)(const char*, Device*) = nullptr;
  const bool usable = found->find(init, "nvmlInit_v2") &&
                      found->find(by_bus_id, "nvmlDeviceGetHandleByPciBusId_v2") &&
                      found->find(found->shutdown, "nvmlShutdown") && init() == 0;
  if (!usable) {
    (void)dlclose(found->handle);
    return;
  }
  found->find(found->clock, "nvmlDeviceGetClockInfo");
  found->find(found->max_clock, "nvmlDeviceGetMaxClockInfo");
  found->find(found->power, "nvmlDeviceGetPowerUsage");
  found->find(found->power_limit, "nvmlDeviceGetEnforcedPowerLimit");
  found->find(found->driver, "nvmlSystemGetDriverVersion");
  library_ = std::move(found);
  if (by_bus_id(bus_id.c_str(), &library_->device) != 0) library_->device = nullptr;
}

Nvml::~Nvml() {
  if (!library_) return;
  (void)library_->shutdown();
  (void)dlclose(library_->handle);
}

std::optional<double> Nvml::sm_clock_hz() const {
  unsigned mhz = 0;
  if (!library_ || library_->device == nullptr || library_->clock == nullptr ||
      library_->clock(library_->device, kSmClock, &mhz) != 0)
    return {};
  return 1e6 * mhz;
}

std::optional<double> Nvml::max_sm_clock_hz() const {
  unsigned mhz = 0;
  if (!library_ || library_->device == nullptr || library_->max_clock == nullptr ||
      library_->max_clock(library_->device, kSmClock, &mhz) != 0)
    return {};
  return 1e6 * mhz;
}

std::optional<double> Nvml::power_w() const {
  unsigned milliwatts = 0;
  if (!library_ || library_->device == nullptr || library_->power == nullptr ||
      library_->power(library_->device, &milliwatts) != 0)
    return {};
  return 1e-3 * milliwatts;
}

std::optional<double> Nvml::power_limit_w() const {
  unsigned milliwatts = 0;
  if (!library_ || library_->device == nullptr || library_->power_limit == nullptr ||
      library_->power_limit(library_->device, &milliwatts) != 0)
    return {};
  return 1e-3 * milliwatts;
}

std::optional<std::string> Nvml::driver_version() const {
  char text[96] = {};
  if (!library_ || library_->driver == nullptr || library_->driver(text, sizeof text) != 0)
    return {};
  return text;
}

}  // namespace stepsim::calib::cuda
