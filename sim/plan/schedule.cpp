// What can be read off a schedule.
#include "sim/plan/schedule.hpp"

#include <algorithm>
#include <string>

#include "sim/core/error.hpp"
#include "sim/core/registry.hpp"

namespace stepsim {

const Schedule& schedule_of(std::string_view name) {
  const Schedule* schedule = Registry<Schedule>::find(name);
  if (schedule == nullptr) throw UserError("unknown schedule '" + std::string(name) + "'");
  return *schedule;
}

int peak_in_flight(const std::vector<Action>& order) {
  int now = 0;
  int peak = 0;
  for (const Action& action : order) {
    now += action.forward ? 1 : -1;
    peak = std::max(peak, now);
  }
  return peak;
}

}  // namespace stepsim
