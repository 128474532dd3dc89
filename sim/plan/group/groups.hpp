// Who talks to whom: the communication groups of every rank, and where they lie on the cluster.
#pragma once

#include <vector>

#include "sim/plan/plan.hpp"
#include "sim/plan/schedule.hpp"

namespace stepsim {

/// All that groups depend on, besides the routes of the cluster.
struct GroupInputs {
  Scenario split;  ///< only keys that say who has which part of the model
  Placement placement;
  bool holds_embedding_twice = false;
  bool may_have_blocks = false;  ///< see LayOut::first_block
  bool operator==(const GroupInputs&) const = default;
};

/// Groups, and what they were made of.
struct KnownGroups {
  GroupInputs inputs;
  Blocks blocks;
  Shared<std::vector<Group>> all;
  Shared<Plan::GroupOf> of_rank;
  /// a number for each rank of the first block; equal: groups of the same shapes
  Shared<std::vector<int>> kinds;
};

/// Which ranks have their groups laid out.
enum class LayOut {
  all_ranks,
  first_block  ///< where the network and the split repeat, what has a rank of the first block
};

/// Fills Plan::blocks, Plan::groups and Plan::group_of for every channel that the scenario uses;
/// returns their kinds of ranks. Those of the plan's cache are taken where they are the same.
Shared<std::vector<int>> add_groups(Plan& plan, const Scenario& scenario, const OpGraph& graph,
                                    LayOut lay_out);

}  // namespace stepsim
