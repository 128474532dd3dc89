// Who talks to whom: the communication groups of every rank, and where they lie on the cluster.
#pragma once

#include "sim/plan/plan.hpp"

namespace stepsim {

/// The channel on which `stage` sends activations to the stage with the next part, or that one
/// sends their gradients back.
Channel send_channel(int stage, int next, int stages, bool forward);
/// The other end of it.
Channel receiver_of(Channel send);

/// Fills Plan::groups and Plan::group_of for every channel that the scenario uses. Returns a number
/// for each rank, which ranks share whose groups have the same shapes.
Shared<std::vector<int>> add_groups(Plan& plan, const Scenario& scenario, const OpGraph& graph);

}  // namespace stepsim
