// Bounds that a measurement has to keep.
#include "sim/calibrate/measurement/plausible.hpp"

#include <cmath>

#include <fmt/format.h>

#include "sim/calibrate/measurement/peak.hpp"
#include "sim/calibrate/measurement/work.hpp"

namespace stepsim {
namespace {

/// Clocks are reported in whole MHz, and events resolve half a microsecond.
constexpr double kSlack = 1.02;

bool is_time(double seconds) { return std::isfinite(seconds) && seconds > 0; }

std::string timing_fault(const Timing& timing) {
  if (!is_time(timing.seconds) || !is_time(timing.p10) || !is_time(timing.p90))
    return fmt::format("the times {} s, {} s and {} s are not all positive", timing.p10,
                       timing.seconds, timing.p90);
  if (timing.p10 > timing.seconds || timing.seconds > timing.p90)
    return fmt::format("the median {} s is not between the percentiles {} s and {} s",
                       timing.seconds, timing.p10, timing.p90);
  if (timing.repeats < 1) return fmt::format("{} repeats", timing.repeats);
  return "";
}

/// Multiplications of a product over those of the algorithm: Winograd's for tiles of 4 x 4 under 3
/// x 3 filters has a quarter (A. Lavin, S. Gray, arXiv 1509.09308).
double saved_by_algorithm(const Point& point) {
  const auto* p = std::get_if<ConvolutionPoint>(&point);
  return p != nullptr && p->filter_height == 3 && p->filter_width == 3 && p->stride == 1 ? 4 : 1;
}

std::string compute_fault(const Point& point, double seconds, const DeviceFacts& device) {
  const double flops = flops_of(point) / saved_by_algorithm(point);
  if (flops == 0) return "";
  Precision dtype = Precision::bf16;
  for_each_field(point, [&](const char*, const auto& value) {
    if constexpr (std::is_same_v<std::decay_t<decltype(value)>, Precision>) dtype = value;
  });
  const auto peak = peak_flops_per_s(device, dtype);
  if (!peak || flops / seconds <= *peak * kSlack) return "";
  return fmt::format("{:.1f} TFLOP/s is above the {} peak of {:.1f} TFLOP/s",
                     flops / seconds / 1e12, name_of(dtype), *peak / 1e12);
}

/// Each byte crosses the pins at least once, unless the cache has it.
std::string memory_fault(const Point& point, double seconds, const DeviceFacts& device) {
  const double bytes = bytes_of(point);
  const auto peak = peak_bytes_per_s(device);
  if (!peak || bytes <= static_cast<double>(device.l2_bytes) || bytes / seconds <= *peak * kSlack)
    return "";
  return fmt::format("{:.1f} GB/s is above the memory's {:.1f} GB/s", bytes / seconds / 1e9,
                     *peak / 1e9);
}

/// Less than 5 % may be the clock's: work beside it heats the chip, but not always.
std::string overlap_fault(const Measured& measured) {
  if (!measured.alone_seconds) return "the time alone is missing";
  if (!is_time(*measured.alone_seconds))
    return fmt::format("the time alone, {} s, is not positive", *measured.alone_seconds);
  if (measured.timing.seconds >= 0.95 * *measured.alone_seconds) return "";
  return fmt::format("{} s with something beside it is less than {} s alone",
                     measured.timing.seconds, *measured.alone_seconds);
}

}  // namespace

std::string why_implausible(const Point& point, const Measured& measured,
                            const DeviceFacts& device) {
  if (kind_of(point) == PointKind::queue)
    return measured.launches.value_or(0) > 0 ? "" : "no launch fits into the queue";
  if (auto fault = timing_fault(measured.timing); !fault.empty()) return fault;
  const double fastest = measured.timing.p10;
  if (auto fault = compute_fault(point, fastest, device); !fault.empty()) return fault;
  if (auto fault = memory_fault(point, fastest, device); !fault.empty()) return fault;
  return kind_of(point) == PointKind::overlap ? overlap_fault(measured) : "";
}

}  // namespace stepsim
