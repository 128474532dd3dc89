// Runs without a GPU: the core that the training loop runs on is the device.
//
// PyTorch on a CPU runs operators where they are called, forward and backward on the thread that
// marks the steps, so that the thread's operators are what kernels are elsewhere, and its time
// outside of them is idle time of the device. Collectives of gloo run on threads of their own.
#pragma once

#include <cstdint>

#include "sim/recording/idle_time.hpp"
#include "sim/recording/recording.hpp"

namespace stepsim {

/// The stream of the core's own work.
inline constexpr std::int32_t kStreamOfCore = 0;

/// Whether there is no sign of a GPU, but a thread with steps and operators.
bool is_of_core(const Recording& recording);

/// Activities of the core: one for each piece of an operator's own time (without the operators that
/// it calls), launched by itself, on stream 0; and one for each collective of gloo, launched by the
/// `c10d::` operator that handed it over, on stream 1. What waits is no activity: the loader, a
/// garbage collection, handing over, and reading a value (aten::item) for 100 us or more, which is
/// longer than any read that has nothing to wait for. REQUIRES: is_of_core.
Recording with_core_as_device(Recording recording);

/// When the core reads values (aten::item) for 100 us or more: it waits for them.
IntervalSet reads_of_core(const Recording& recording);

/// The idle time of the core, by what its thread did meanwhile: all of it is a late host's.
IdleTime idle_time_of_core(const Recording& recording, const IntervalSet& busy, Interval window);

}  // namespace stepsim
