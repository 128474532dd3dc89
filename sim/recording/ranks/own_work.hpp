// What a rank has done for itself up to a moment: what makes one rank come later than others.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "sim/recording/gpu_time.hpp"
#include "sim/recording/idle_time.hpp"

namespace stepsim {

enum class OwnWork : std::uint8_t { kernels, copies, loader, sync, host, not_known, count_ };
inline constexpr std::size_t kOwnWorks = static_cast<std::size_t>(OwnWork::count_);
using OwnWorkTimes = std::array<Nanoseconds, kOwnWorks>;

/// When a rank does what for itself. Communication is no work of its own, and neither is waiting
/// for it.
using OwnWorkSets = std::array<IntervalSet, kOwnWorks>;
OwnWorkSets own_work_of(const GpuRows& rows, const IdleTime& idle, Interval window);

/// Adds work up to moments that come in order.
class OwnWorkUntil {
 public:
  explicit OwnWorkUntil(const OwnWorkSets& sets) : sets_(&sets) {}
  OwnWorkTimes at(Nanoseconds moment);

 private:
  const OwnWorkSets* sets_;
  std::array<std::size_t, kOwnWorks> next_{};
  OwnWorkTimes passed_{};
};

}  // namespace stepsim
