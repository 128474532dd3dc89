// Samples of one thing, taken by all ranks at the same time.
#pragma once

#include <functional>

#include "calib/cpu/ranks.hpp"
#include "sim/calibrate/measurement/timing.hpp"

namespace stepsim::cpu {

/// Runs it once; `turn` counts up, for those that take turns with their buffers.
using Once = std::function<void(int turn)>;

/// Each rank by itself, all of them at work: the mean over the ranks of the median, and of the
/// percentiles. Seconds a call, without waiting for a core that others have (stopwatch.hpp).
calib::Timing time_alone(const Ranks& ranks, const Once& once);

/// What the ranks do together: each sample begins at a barrier and is that of the rank which was
/// disturbed least. Only samples count in which no rank had to wait for a core; where there are
/// hardly any, the fastest quarter of all.
calib::Timing time_together(const Ranks& ranks, const Once& once);

}  // namespace stepsim::cpu
