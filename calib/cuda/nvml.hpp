// What the driver knows about clocks and power, through NVML where it is installed.
//
// The library comes with the driver and its header with the toolkit, not always both; it is loaded
// when the program runs, so that the program can be built and run without either.
#pragma once

#include <memory>
#include <optional>
#include <string>

namespace stepsim::calib::cuda {

class Nvml {
 public:
  /// Opens NVML for the GPU at `bus_id`, as cudaDeviceGetPCIBusId writes it. Everything is unknown
  /// when NVML is not there.
  explicit Nvml(const std::string& bus_id);
  ~Nvml();
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;

  std::optional<double> sm_clock_hz() const;      ///< clock at this moment
  std::optional<double> max_sm_clock_hz() const;  ///< the highest clock that the GPU may rise to
  std::optional<double> power_w() const;          ///< power at this moment, averaged by the driver
  std::optional<double> power_limit_w() const;
  std::optional<std::string> driver_version() const;

 private:
  struct Library;
  std::unique_ptr<Library> library_;
};

}  // namespace stepsim::calib::cuda
