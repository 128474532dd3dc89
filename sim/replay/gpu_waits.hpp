// Where a thread of the host waits for the GPU, and for which of its work.
//
// Calls do not say what they waited for; their times do. A synchronising call ends when the work
// that it waited for has ended: of what had been launched before the call, the last work of one
// stream (of all, where the call synchronises the device); or, where that still runs, which is so
// for events and for clocks that differ, what ended right before the call did. A copy from or to
// pageable memory, or by a call that is not asynchronous, keeps the thread until it has ended. A
// launch waits while its stream's queue is full.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/replay/gpu_queues.hpp"

namespace stepsim {

/// A synchronising call returns behind the work that it waited for within 24 us in 26 of 28
/// recordings of 2020 to 2025, but for one call of 540 us in another (and within 180 us under the
/// autograd profiler of 2020); what takes longer has waited for something else.
inline constexpr Nanoseconds kLongestReturn = 50'000;

struct GpuWait {
  HostEventPlace call;
  Interval time;  ///< from the call's start to the end of the work that it waits for
  std::vector<QueuePlace> works;  ///< the work that it waits for
  Nanoseconds left = 0;           ///< until the call ended behind that
  bool synchronises = false;      ///< the call does nothing but to wait
  bool is_for_room = false;       ///< a launch that found its queue full
};

/// The waits of one thread's calls in the window, in order. Times are since its start.
std::vector<GpuWait> gpu_waits(const Recording& recording, const GpuQueues& queues, Interval window,
                               std::uint32_t thread);

}  // namespace stepsim
