// How long the host is at work for each kernel that it launches.
#pragma once

#include <cstddef>

#include "sim/recording/recording.hpp"

namespace stepsim {

struct LaunchPace {
  std::size_t launches = 0;  ///< of kernels in the window, one by one
  double seconds = 0;        ///< of the window, without waiting for the GPU, for data, and pauses
  double calls = 0;          ///< of these, of the driver's calls that launch
  bool has_graphs = false;   ///< some kernels are launched many at once
  double slowdown = 1;  ///< what else the host does takes so many times as long (recorder_cost)

  /// What the window would have without a profiler.
  double unrecorded_seconds() const { return calls + (seconds - calls) / slowdown; }
};

/// The threads that launch take turns: while autograd launches, the training loop waits. So what is
/// left of the window is the time of one host.
LaunchPace launch_pace_of(const Recording& recording, Interval window);

}  // namespace stepsim
