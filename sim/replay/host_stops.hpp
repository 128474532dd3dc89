// Where a thread of the host stops: marks, and what it waits for. Between them it works, and its
// launches come as long after the last stop as they did.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/replay/gpu_waits.hpp"
#include "sim/replay/handovers.hpp"
#include "sim/timeline/timeline.hpp"

namespace stepsim {

enum class StopKind : std::uint8_t {
  step_mark,      ///< a step begins or ends; takes no time
  hands_over,     ///< another thread goes on; takes no time
  gpu,            ///< waits for works
  room,           ///< waits for a work, for room in its queue
  taken_over,     ///< waits for another thread
  pause,          ///< takes the time that it took, for `cause`
  not_explained,  ///< takes the time that it took: a synchronising call, for what nobody knows
};

struct HostStop {
  Interval time;  ///< from when the thread came to it until it went on, since the window began
  StopKind kind = StopKind::step_mark;
  std::uint32_t number = 0;       ///< of the step's mark, or of the handover
  std::vector<QueuePlace> works;  ///< gpu, room
  std::string caller;             ///< gpu: what waits, "aten::item in train.py(42): step"
  /// pause: the loader (batch_wait), garbage_collection, recompilation, or a read of a value on a
  /// core (cpu_work)
  Cause cause = Cause::batch_wait;
};

struct HostLine {
  std::uint32_t thread = 0;
  std::vector<HostStop> stops;  ///< in order; none overlap
};

/// What a thread's line is made of.
struct HostLineParts {
  std::uint32_t thread = 0;
  std::vector<GpuWait> waits;
  const std::vector<Handover>& handovers;  ///< of all threads
  std::vector<Nanoseconds> step_marks;     ///< empty where other threads mark the steps
  std::vector<Nanoseconds> launches;       ///< in order
};
HostLine host_line(const Recording& recording, Interval window, HostLineParts parts);

}  // namespace stepsim
