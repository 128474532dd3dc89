// What each moment of a recorded rank is spent on, in the words of simulated steps.
#pragma once

#include <array>
#include <vector>

#include "sim/recording/communication_call.hpp"
#include "sim/recording/gpu_time.hpp"
#include "sim/recording/idle_time.hpp"
#include "sim/recording/phase.hpp"
#include "sim/timeline/timeline.hpp"

namespace stepsim {

/// The times of a window; all sum to its length.
struct Breakdown {
  std::array<Nanoseconds, kCauses> causes{};
  Nanoseconds pauses_in_operations = 0;  ///< of collections and recompilations, within operators
  Nanoseconds not_known = 0;             ///< the GPU may have been idle, or may have worked

  Nanoseconds& of(Cause cause) { return causes[static_cast<std::size_t>(cause)]; }
  Nanoseconds of(Cause cause) const { return causes[static_cast<std::size_t>(cause)]; }
};

/// What a late host did beside waiting, where the recording shows it.
struct HostPauses {
  IntervalSet garbage_collection, recompilation;
};
HostPauses pauses_of(const Recording& recording);

/// A moment in which kernels compute counts under the phase of the first of them that began. Then
/// come communication that nothing hides, under the axis of its group; copies to the GPU (h2d) and
/// from it (cpu_work: the CPU needs the result), other copies under their phase; and idle time:
/// the loader is batch_wait, a synchronising call cpu_work, all other waiting for launches, and for
/// what was launched, launch_gap.
Breakdown breakdown_of(const Recording& recording, const KindByName& kinds, const GpuRows& rows,
                       const IdleTime& idle, const RankCommunication& communication,
                       Interval window);

}  // namespace stepsim
