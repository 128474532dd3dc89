// How long the host takes for a launch.
#pragma once

#include "sim/scenario/scenario.hpp"

namespace stepsim {

/// How many times as long the host's work takes where the busy threads of a node's processes are
/// more than its cores, and each gets a part of one.
double cpu_slowdown(const Scenario& scenario);

/// Host time per kernel: none where a whole pass is one graph launch.
Seconds launch_time(const Scenario& scenario);

}  // namespace stepsim
