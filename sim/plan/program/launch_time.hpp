// How long the host takes for a launch.
#pragma once

#include <algorithm>

#include "sim/scenario/scenario.hpp"

namespace stepsim {

/// How many times as long the host's work takes where the busy threads of a node's processes are
/// more than its cores, and each gets a part of one.
inline double cpu_slowdown(const Scenario& scenario) {
  const Host& host = scenario.host;
  if (!host.cores) return 1;
  return std::max(1.0, host.threads * scenario.cluster.gpus_per_node / *host.cores);
}

/// Host time per kernel: none where a whole pass is one graph launch.
inline Seconds launch_time(const Scenario& scenario) {
  const Host& host = scenario.host;
  return host.graph() ? Seconds{0} : host.launch * cpu_slowdown(scenario);
}

}  // namespace stepsim
