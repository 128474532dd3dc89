// Reads properties of the GPU from the runtime's attributes.
#include "calib/cuda/device.hpp"

#include <algorithm>

#include <cublasLt.h>
#include <cuda_runtime_api.h>
#include <fmt/format.h>
#ifdef STEPSIM_NCCL
#include <nccl.h>
#endif

#include "calib/cuda/check.hpp"
#include "sim/core/version.hpp"

namespace stepsim::calib::cuda {
namespace {

std::int64_t attribute(cudaDeviceAttr which, int device) {
  int value = 0;
  check(cudaDeviceGetAttribute(&value, which, device), "cudaDeviceGetAttribute");
  return value;
}

/// A version as CUDA writes it: "13.0" for 13000.
std::string cuda_version(int number) {
  return fmt::format("{}.{}", number / 1000, number % 1000 / 10);
}

}  // namespace

std::string why_no_device(int device) {
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  if (status == cudaErrorInsufficientDriver) {
    int driver = 0;
    if (cudaDriverGetVersion(&driver) != cudaSuccess || driver == 0)
      return "there is no NVIDIA driver on this machine";
    return fmt::format("the driver supports CUDA {}, this program was built for a newer one",
                       cuda_version(driver));
  }
  if (status == cudaErrorNoDevice || (status == cudaSuccess && count == 0))
    return "there is no NVIDIA GPU on this machine";
  if (status != cudaSuccess) return fmt::format("CUDA: {}", cudaGetErrorString(status));
  if (device >= count)
    return fmt::format("there is no GPU {}, the last one is {}", device, count - 1);
  return "";
}

std::string bus_id_of(int device) {
  char text[32] = {};
  check(cudaDeviceGetPCIBusId(text, sizeof text, device), "cudaDeviceGetPCIBusId");
  return text;
}

DeviceFacts read_device(int device, const Nvml& nvml) {
  cudaDeviceProp properties = {};
  check(cudaGetDeviceProperties(&properties, device), "cudaGetDeviceProperties");
  int gpus = 0;
  check(cudaGetDeviceCount(&gpus), "cudaGetDeviceCount");
  DeviceFacts facts;
  facts.name = properties.name;
  facts.compute_major = properties.major;
  facts.compute_minor = properties.minor;
  facts.sms = properties.multiProcessorCount;
  facts.memory_bytes = static_cast<std::int64_t>(properties.totalGlobalMem);
  facts.l2_bytes = properties.l2CacheSize;
  facts.memory_bus_bits = properties.memoryBusWidth;
  // Clock rates are in kHz. The driver may allow a higher clock than the runtime says.
  facts.max_sm_clock_hz =
      std::max(1e3 * static_cast<double>(attribute(cudaDevAttrClockRate, device)),
               nvml.max_sm_clock_hz().value_or(0));
  facts.max_memory_clock_hz =
      1e3 * static_cast<double>(attribute(cudaDevAttrMemoryClockRate, device));
  facts.power_limit_w = nvml.power_limit_w().value_or(0);
  facts.gpus = gpus;
  return facts;
}

Versions read_versions(const Nvml& nvml) {
  int driver = 0, runtime = 0;
  check(cudaDriverGetVersion(&driver), "cudaDriverGetVersion");
  check(cudaRuntimeGetVersion(&runtime), "cudaRuntimeGetVersion");
  Versions versions = {{"harness", fmt::format("stepsim-measure-cuda {}", kVersion)},
                       {"cuda_driver", cuda_version(driver)},
                       {"cuda_runtime", cuda_version(runtime)},
                       {"cublaslt", fmt::format("{}", cublasLtGetVersion())}};
  if (const auto version = nvml.driver_version()) versions["driver"] = *version;
#ifdef STEPSIM_NCCL
  int nccl = 0;
  if (ncclGetVersion(&nccl) == ncclSuccess) versions["nccl"] = fmt::format("{}", nccl);
#endif
  return versions;
}

std::int64_t free_memory() {
  std::size_t free = 0, total = 0;
  check(cudaMemGetInfo(&free, &total), "cudaMemGetInfo");
  return static_cast<std::int64_t>(free);
}

}  // namespace stepsim::calib::cuda
