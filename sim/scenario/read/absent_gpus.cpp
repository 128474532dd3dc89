// The list of GPUs without a profile. Numbers are those of the makers' datasheets: dense bf16 (fp16
// before Ampere) with fp32 accumulation, memory, its bandwidth, board power.
#include "sim/scenario/read/absent_gpus.hpp"

#include <array>
#include <cctype>

#include <fmt/format.h>

namespace stepsim {
namespace {

struct AbsentGpu {
  std::string_view name, base;
  int memory_gb, bandwidth_gb_per_s, tflops, watts;  ///< 0: as the base's
};

constexpr std::array kAbsentGpus{
    AbsentGpu{"a100", "a100-80", 0, 0, 0, 0},
    AbsentGpu{"a100pcie", "a100-80", 80, 1935, 312, 300},
    AbsentGpu{"a800", "a100-80", 0, 0, 0, 0},
    AbsentGpu{"a10", "l40s", 24, 600, 125, 150},
    AbsentGpu{"a10g", "l40s", 24, 600, 70, 300},
    AbsentGpu{"a40", "l40s", 48, 696, 150, 300},
    AbsentGpu{"a6000", "l40s", 48, 768, 155, 300},
    AbsentGpu{"rtxa6000", "l40s", 48, 768, 155, 300},
    AbsentGpu{"b100", "b200", 180, 8000, 1750, 700},
    AbsentGpu{"b300", "b200", 288, 8000, 2250, 1100},
    AbsentGpu{"gb300", "gb200", 288, 8000, 2500, 1400},
    AbsentGpu{"gh200", "h100", 96, 4000, 989, 700},
    AbsentGpu{"h100nvl", "h100", 94, 3900, 835, 400},
    AbsentGpu{"h100pcie", "h100", 80, 2000, 756, 350},
    AbsentGpu{"h20", "h100", 96, 4000, 148, 400},
    AbsentGpu{"h800", "h100", 0, 0, 0, 0},
    AbsentGpu{"l4", "l40s", 24, 300, 121, 72},
    AbsentGpu{"l40", "l40s", 48, 864, 181, 300},
    AbsentGpu{"mi250x", "a100-80", 128, 3277, 383, 500},
    AbsentGpu{"mi300x", "h200", 192, 5300, 1307, 750},
    AbsentGpu{"mi325x", "h200", 256, 6000, 1307, 1000},
    AbsentGpu{"mi355x", "b200", 288, 8000, 2500, 1400},
    AbsentGpu{"rtx3090", "l40s", 24, 936, 71, 350},
    AbsentGpu{"rtx4090", "l40s", 24, 1008, 165, 450},
    AbsentGpu{"rtx5090", "l40s", 32, 1792, 210, 575},
    AbsentGpu{"t4", "v100", 16, 320, 65, 70},
    AbsentGpu{"v10016", "v100", 16, 900, 125, 300},
    AbsentGpu{"v10032", "v100", 0, 0, 0, 0},
};

/// In small letters and digits alone, without the maker, the form factor and GB.
std::string bare(std::string_view name) {
  std::string text;
  for (const char c : name)
    if (std::isalnum(static_cast<unsigned char>(c)))
      text += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  for (const std::string_view word :
       {"nvidia", "amd", "tesla", "geforce", "instinct", "sxm2", "sxm4", "sxm5", "sxm", "gb"}) {
    const std::size_t at = text.find(word);
    const bool is_all = word == "gb" && at == 0;  // of GB200
    if (at != std::string::npos && !is_all) text.erase(at, word.size());
  }
  return text;
}

}  // namespace

std::string nearest_to_absent_gpu(std::string_view name) {
  const std::string wanted = bare(name);
  for (const AbsentGpu& gpu : kAbsentGpus) {
    if (gpu.name != wanted) continue;
    if (gpu.memory_gb == 0) return std::string(gpu.base);
    const bool is_tensor_fp16 = gpu.base == "v100";
    return fmt::format(
        "{{base: {}, memory: {} GB, memory_bandwidth: {} GB/s, power_limit: {} W, gemm: {{{}: "
        "{{peak: {} TFLOP/s}}}}}}",
        gpu.base, gpu.memory_gb, gpu.bandwidth_gb_per_s, gpu.watts,
        is_tensor_fp16 ? "fp16" : "bf16", gpu.tflops);
  }
  return "";
}

}  // namespace stepsim
