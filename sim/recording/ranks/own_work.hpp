// What a rank has done for itself up to a moment: what makes one rank come later than others.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "sim/recording/gpu_time.hpp"
#include "sim/recording/idle_time.hpp"

namespace stepsim {

enum class OwnWork : std::uint8_t { kernels, copies, loader, sync, host, not_known, count_ };
inline constexpr std::size_t kOwnWorks = static_cast<std::size_t>(OwnWork::count_);
using OwnWorkTimes = std::array<Nanoseconds, kOwnWorks>;

/// For each of the moments, which are in order, the work since the window began. Communication is
/// no work of its own, and neither is waiting for it.
std::vector<OwnWorkTimes> own_work_until(const GpuRows& rows, const IdleTime& idle, Interval window,
                                         const std::vector<Nanoseconds>& moments);

}  // namespace stepsim
