// A plan of one collective on one group and nothing else: what a benchmark of it runs.
#pragma once

#include "sim/plan/plan.hpp"

namespace stepsim {

/// `plan.groups[group]`, laid out for that op; a pair of pipeline stages as it is, for shifts.
Group group_for(const Plan& plan, int group, CollectiveOp op);

/// The plan in which the group's ranks run `phases` once, at time 0; its one step ends with them.
Plan lone_collective(const Plan& plan, Group group, Phases phases);

}  // namespace stepsim
