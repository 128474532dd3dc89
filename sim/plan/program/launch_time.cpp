// Launches on a host whose cores may be shared.
#include "sim/plan/program/launch_time.hpp"

#include <algorithm>

namespace stepsim {

double cpu_slowdown(const Scenario& scenario) {
  const Host& host = scenario.host;
  if (!host.cores) return 1;
  return std::max(1.0, host.threads * scenario.cluster.gpus_per_node / *host.cores);
}

Seconds launch_time(const Scenario& scenario) {
  const Host& host = scenario.host;
  return host.graph() ? Seconds{0} : host.launch * cpu_slowdown(scenario);
}

}  // namespace stepsim
