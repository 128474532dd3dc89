// What can be read off a schedule.
#include "sim/plan/schedule.hpp"

#include <algorithm>

namespace stepsim {

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
