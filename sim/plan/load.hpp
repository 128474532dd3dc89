// Loading a scenario as commands do: with overrides and the names that the program knows.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "sim/plan/scenario_argument.hpp"
#include "sim/scenario/load.hpp"

namespace stepsim {

/// The names that the registries hold, as the checks of a scenario need them.
KnownNames known_names();

Scenario load(const ScenarioArgument& argument);
/// Loads it with a library that is kept for more scenarios (library_for(argument.path)).
Scenario load(const ScenarioArgument& argument, const Library& library);
/// Loads it with these settings on top of what the command line sets.
Scenario load(ScenarioArgument argument, const std::vector<std::string>& settings,
              const Library& library);

/// The dotted paths of the keys that the file or the command line states.
std::set<std::string> stated_keys(const ScenarioArgument& argument);

}  // namespace stepsim
