// One sentence on what holds the step up: a counterfactual that was simulated, not a rule of thumb.
#pragma once

#include <functional>

#include "sim/report/metrics.hpp"

namespace stepsim {

/// What could be made infinitely fast.
enum class WhatIf { network, input, launches };

/// `simulate_with` returns the mean step time with that resource free. It is called for the
/// resource that the step waits for most, or not at all when the GPU is busy nearly always or waits
/// for other stages most.
Verdict verdict(const Metrics& metrics, const std::function<Seconds(WhatIf)>& simulate_with);

}  // namespace stepsim
