// Adding up the host's time.
#include "sim/plan/pass/host_pace.hpp"

#include <algorithm>

#include "sim/plan/program/launch_time.hpp"

namespace stepsim {
namespace {

int kernels_of(const Items& items) {
  return static_cast<int>(std::ranges::count_if(
      items, [](const Item& item) { return std::holds_alternative<Launch>(item); }));
}

}  // namespace

double host_scale(const Scenario& scenario) {
  if (!scenario.host.counts_calls()) return 0;
  return cpu_slowdown(scenario) / scenario.host.speed;
}

double published_scale(const Scenario& scenario) {
  return scenario.host.counts_calls() ? cpu_slowdown(scenario) : 0;
}

void HostPaceMeter::spend(const Op& op, HostPass pass) {
  if (scale_ == 0) return;
  spend(host_time(op.calls, kernels_of(op.forward), pass));
}

void HostPaceMeter::complete_gradient() {
  spend(host_cost::parameter.backward);
  if (hooks_) spend(host_cost::hook.backward);
}

}  // namespace stepsim
