// Simulating counterfactuals: always folded, for the answer is the same and it is cheap.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "sim/report/explain.hpp"
#include "sim/scenario/scenario.hpp"

namespace stepsim {

/// Reads the scenario again with these settings on top. Throws UserError when they do not fit.
using Reread = std::function<Scenario(const std::vector<std::string>& settings)>;

/// Limits, hardware, settings, the loader, path, symptoms and verdict; of the first replica where
/// something is random. After Ctrl-C what is known by then.
Explanation explain(const Scenario& scenario, const Reread& reread);

}  // namespace stepsim
