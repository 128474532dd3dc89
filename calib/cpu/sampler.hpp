// Samples of one thing, taken by all ranks at the same time.
#pragma once

#include <functional>

#include "calib/cpu/ranks.hpp"
#include "sim/calibrate/measurement/timing.hpp"

namespace stepsim::cpu {

/// Runs the measured thing once. `turn` counts up, for things that take turns with their buffers.
using Once = std::function<void(int turn)>;

/// The times of ranks that work at the same time, each by itself: the mean over the ranks of the
/// median and of the percentiles. Seconds of a call, without waiting for a core that others have
/// (stopwatch.hpp).
Timing time_alone(const Ranks& ranks, const Once& once);

/// The times of what the ranks do together, in seconds of a call. Each sample begins at a barrier,
/// and the rank that was disturbed least gives its time. Samples in which a rank had to wait for a
/// core do not count; where hardly any remain, the fastest quarter of all does.
Timing time_together(const Ranks& ranks, const Once& once);

}  // namespace stepsim::cpu
