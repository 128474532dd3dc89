// Loading a scenario as commands do: with overrides and the names that the program knows.
#pragma once

#include "sim/command/command.hpp"
#include "sim/scenario/load.hpp"

namespace stepsim {

Scenario load(const ScenarioArgument& argument);

/// The names that the rooms above the scenario own.
KnownNames known_names();

}  // namespace stepsim
