// Whether a step follows from what is stated, or from the last digit of it.
//
// Transfers that meet on links change when others end. Where they meet in a circle all the time, a
// change of one part in 1e12, far below what anybody can measure, may decide who comes first, and
// move the step by parts in a hundred. No engine can know such a step better.
#pragma once

#include <optional>

#include "sim/engine/simulate.hpp"
#include "sim/report/measure/metrics.hpp"

namespace stepsim {

/// The band of steps that links faster by up to 1e-12 give; nothing where that moves the step by
/// 0.1 % or less. `simulation` is the plan's, run so.
std::optional<Chaos> chaos_of(const Plan& plan, const Simulation& simulation, bool fold);

}  // namespace stepsim
