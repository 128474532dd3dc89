// Algorithms that a scenario states and that none of its groups could run.
#pragma once

#include "sim/plan/plan.hpp"

namespace stepsim {

/// Throws UserError where keys of `collectives` have no effect at all, or can never work
/// (`decide`); says all of them. REQUIRES: plan.groups are there.
void check_stated_collectives(const Plan& plan, const Scenario& scenario);

}  // namespace stepsim
