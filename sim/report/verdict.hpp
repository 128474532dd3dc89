// One sentence on what holds the step up: a counterfactual that was simulated, not a rule of thumb.
#pragma once

#include <functional>

#include "sim/report/metrics.hpp"

namespace stepsim {

/// What could be made infinitely fast.
enum class WhatIf { network, input, launches };

/// `simulate_with` returns the mean step time with that resource free. The resource that saves most
/// is named, unless waiting for other stages costs more, or nothing costs much.
Verdict verdict(const Metrics& metrics, const std::function<Seconds(WhatIf)>& simulate_with);

}  // namespace stepsim
