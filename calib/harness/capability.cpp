// Finds reasons to leave a point out: too few devices, or a library, a type or memory that is
// missing.
#include "calib/harness/capability.hpp"

#include <fmt/format.h>

#include "sim/calibrate/measurement/peak.hpp"
#include "sim/calibrate/measurement/work.hpp"

namespace stepsim::calib {
namespace {

/// The share of the memory that points may use; the rest stays free for contexts, workspaces and
/// libraries. Judgement: those take some GiB, which is a fifth of small GPUs.
constexpr double kUsableMemory = 0.8;

template <class Value>
Value field_or(const Point& point, const char* wanted, Value otherwise) {
  for_each_field(point, [&](const char* name, const auto& value) {
    if constexpr (std::is_same_v<std::decay_t<decltype(value)>, Value>)
      if (std::string_view(name) == wanted) otherwise = value;
  });
  return otherwise;
}

/// Whether the device has no arithmetic in a type. An unknown architecture may have it: the library
/// will say.
bool lacks(const DeviceFacts& device, Precision dtype) {
  const bool known =
      flops_per_cycle(device.compute_major, device.compute_minor, Precision::fp32).has_value();
  return known && !flops_per_cycle(device.compute_major, device.compute_minor, dtype);
}

bool needs_nccl(const Point& point) {
  return kind_of(point) == PointKind::collective || field_or<std::int64_t>(point, "gpus", 1) > 1;
}

/// Whether the point computes in its type. Kernels that move bytes and copies of bits need no
/// arithmetic in it.
bool computes(const Point& point) {
  return kind_of(point) == PointKind::gemm || kind_of(point) == PointKind::attention ||
         kind_of(point) == PointKind::overlap;
}

}  // namespace

std::string why_left_out(const Point& point, const DeviceFacts& device,
                         const Libraries& libraries) {
  const auto gpus = field_or<std::int64_t>(point, "gpus", 1);
  if (gpus > device.gpus) return fmt::format("they need {} GPUs, here {}", gpus, device.gpus);
  if (needs_nccl(point) && !libraries.collectives) return "built without NCCL";
  if (kind_of(point) == PointKind::attention) return "no program here measures attention yet";
  const auto dtype = field_or(point, "dtype", Precision::fp32);
  if (computes(point) && lacks(device, dtype))
    return fmt::format("no {} on compute capability {}.{}", name_of(dtype), device.compute_major,
                       device.compute_minor);
  if (static_cast<double>(footprint_of(point)) >
      kUsableMemory * static_cast<double>(device.memory_bytes))
    return "larger than the memory";
  return "";
}

}  // namespace stepsim::calib
