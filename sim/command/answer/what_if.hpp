// Simulating counterfactuals: always folded, for the answer is the same and it is cheap.
#pragma once

#include "sim/command/answer/simulated_change.hpp"
#include "sim/report/measure/explain.hpp"
#include "sim/scenario/scenario.hpp"

namespace stepsim {

/// Explains a step: limits, hardware, settings, the loader, path, symptoms and verdict; of the
/// first replica where something is random. After Ctrl-C it has what is known by then.
Explanation explain(const Scenario& scenario, const Reread& reread);

}  // namespace stepsim
