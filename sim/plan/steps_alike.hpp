// Scenarios in which each step does what the one before it did.
#pragma once

#include "sim/scenario/scenario.hpp"

namespace stepsim {

/// Whether every step but the first has the same tasks, of the same lengths, all of which a host
/// launches that waits at the end of each step: nothing is random or changes with time, nothing
/// runs ahead (input, checkpoints), nothing comes every so many steps.
bool steps_are_alike(const Scenario& scenario);

}  // namespace stepsim
