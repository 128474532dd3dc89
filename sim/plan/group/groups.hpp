// Who talks to whom: the communication groups of every rank, and where they lie on the cluster.
#pragma once

#include "sim/plan/plan.hpp"

namespace stepsim {

/// Fills Plan::groups and Plan::group_of for every channel that the scenario uses. Returns a number
/// for each rank, which ranks share whose groups have the same shapes.
Shared<std::vector<int>> add_groups(Plan& plan, const Scenario& scenario, const OpGraph& graph);

}  // namespace stepsim
