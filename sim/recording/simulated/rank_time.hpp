// What the GPU of a simulated rank does when, in the words of recordings.
#pragma once

#include "sim/recording/gpu_time.hpp"
#include "sim/timeline/timeline.hpp"

namespace stepsim {

/// When the rank computes, communicates (a collective or transfer is in flight) and copies.
GpuRows gpu_rows(const RankTimeline& rank);

/// A moment of a timeline in whole nanoseconds.
Nanoseconds nanoseconds_of(double seconds);

}  // namespace stepsim
