// Where the core of a run without a GPU waits for collectives, which run on threads of their own.
//
// The core's work is its thread's own time (sim/recording/core_device.hpp). Where it does nothing
// for a while and a collective ends that was handed over before, it has waited for that.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/replay/gpu_waits.hpp"

namespace stepsim {

/// When the core's thread waits for collectives: pauses between operators in which one ends. Its
/// calls are the events that began last before.
/// REQUIRES: recording.is_of_core, and queues without the core's own work.
std::vector<GpuWait> core_waits(const Recording& recording, const GpuQueues& queues,
                                Interval window, std::uint32_t thread);

}  // namespace stepsim
