// Compares a kernel's sizes with the range of its constants.
#include "sim/cluster/measured_range.hpp"

#include <cmath>
#include <cstdint>
#include <iterator>
#include <optional>

#include <fmt/format.h>

#include "sim/cluster/kernel_time.hpp"

namespace stepsim {
namespace {

using Sizes = std::optional<Extent<std::int64_t>>;

bool holds(const Sizes& range, std::int64_t size) { return !range || range->holds(size); }

std::string exit_of(const char* what, const Sizes& range, std::int64_t size) {
  if (holds(range, size)) return "";
  return size < range->least ? fmt::format("{} < {}", what, range->least)
                             : fmt::format("{} > {}", what, range->most);
}

std::string text_of(Bytes bytes) {
  double size = bytes.bytes();
  const char* const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  const char* const* unit = units;
  for (; size >= 1024 && unit + 1 < std::end(units); ++unit) size /= 1024;
  return fmt::format("{:.4g} {}", size, *unit);
}

std::string exit_of(const Gemm& gemm, const GpuProfile& gpu) {
  const GemmRange& range = gemm_profile(gpu, gemm.precision).range;
  if (auto exit = exit_of("GEMM k", range.k, gemm.k); !exit.empty()) return exit;
  const auto fits = [&](std::int64_t m, std::int64_t n) {
    return holds(range.m, m) && holds(range.n, n);
  };
  if (fits(gemm.m, gemm.n) || fits(gemm.n, gemm.m)) return "";
  if (auto exit = exit_of("GEMM m", range.m, gemm.m); !exit.empty()) return exit;
  return exit_of("GEMM n", range.n, gemm.n);
}

std::string exit_of(const FusedAttention& attention, const GpuProfile& gpu) {
  return exit_of("attention sequence", attention_profile(gpu, attention).range.sequence,
                 std::llround(attention.joined_tokens()));
}

std::string exit_of(const MemoryBound& kernel, const GpuProfile& gpu) {
  const auto& range = gpu.memory_kernels.range.bytes;
  if (!range || range->holds(kernel.bytes)) return "";
  return kernel.bytes < range->least ? "memory-bound kernel < " + text_of(range->least)
                                     : "memory-bound kernel > " + text_of(range->most);
}

/// Where a convolution leaves what was measured: all convolutions that were have one group.
std::string exit_of(const Convolution& convolution, const GpuProfile&) {
  return convolution.groups > 1 ? "convolution in groups" : "";
}

}  // namespace

std::string outside_range(const Work& work, const GpuProfile& gpu) {
  return std::visit([&](const auto& kernel) { return exit_of(kernel, gpu); }, work);
}

}  // namespace stepsim
