// stepsim check: is the scenario right?
#pragma once

#include <iosfwd>

#include "sim/core/error.hpp"
#include "sim/plan/scenario_argument.hpp"

namespace stepsim {

/// Reads and checks a scenario, and says that it is fine.
ExitCode check(const ScenarioArgument& scenario, std::ostream& out);

}  // namespace stepsim
