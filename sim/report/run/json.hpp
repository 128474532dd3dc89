// The result as JSON, which programs read. Values are in base SI units, and each key says its unit.
#pragma once

#include <string>
#include <vector>

#include "sim/report/measure/metrics.hpp"

namespace stepsim {

/// The result as an object of schema "stepsim.result/1", indented by 2, with a newline at the end.
/// Every key is always there; what does not apply or is not finite is null. With `stats` (may be
/// null) the engine object also says how long the run took on this machine; without it equal inputs
/// give equal bytes.
std::string to_json(const Metrics& metrics, const std::vector<ExpectationOutcome>& expectations,
                    const RunStats* stats);

}  // namespace stepsim
