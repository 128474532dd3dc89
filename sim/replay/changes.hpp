// Recorded steps as they would be: plans in which one thing is otherwise.
#pragma once

#include <string>
#include <vector>

#include "sim/replay/replay_plan.hpp"

namespace stepsim {

struct PlannedChange {
  std::string name, sentence;
  Plan (*plan)(const ReplayPlan& replay) = nullptr;
  std::vector<TaskIndex> without;  ///< instead of `plan`: waits of the host for the GPU, taken away
};

/// The changes that concern something in the plan.
std::vector<PlannedChange> changes_of(const ReplayPlan& replay);

/// The plan with the change.
Plan changed(const ReplayPlan& replay, const PlannedChange& change);

/// Communication takes that many times as long, whatever of it is waiting for other ranks.
Plan with_communication(Plan plan, double factor);
/// Products of matrices take the time that the GPU's profile has for them, where that is shorter.
Plan with_attainable_products(const ReplayPlan& replay);
/// The host does not wait for the GPU at those tasks.
Plan without_waits(Plan plan, const std::vector<TaskIndex>& waits);

}  // namespace stepsim
