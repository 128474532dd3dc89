// What to change first: settings that are about what would save most, simulated.
#pragma once

#include <string>
#include <vector>

#include "sim/command/answer/simulated_change.hpp"
#include "sim/report/measure/metrics.hpp"
#include "sim/report/measure/verdict.hpp"

namespace stepsim {

/// The best of the promising settings, with its simulated step; or that none that was simulated is
/// any better. For a scenario that does not fit in memory only settings that make it fit are
/// simulated. So many are simulated that all of them together stay within two million tasks, about
/// a second on one core, if each has as many tasks as the step itself: for a larger step none at
/// all.
std::string next_setting(const Metrics& metrics, const std::vector<LimitOutcome>& limits,
                         const ChangeBase& base, int jobs);

}  // namespace stepsim
