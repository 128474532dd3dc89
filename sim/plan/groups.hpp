// Who talks to whom: the communication groups of every rank, and where they lie on the cluster.
//
// Ranks are numbered tensor fastest, then context, data and pipeline (Megatron-LM's order
// tp-cp-ep-dp-pp): tensor groups stay inside nodes and the replicas of a stage are neighbours.
// Experts are dealt to consecutive data ranks of the same tensor and context index.
#pragma once

#include "sim/plan/plan.hpp"

namespace stepsim {

struct RankPlace {
  int tensor = 0, context = 0, data = 0, stage = 0;
};

RankPlace place_of(int rank, const Scenario& scenario);
int rank_at(RankPlace place, const Scenario& scenario);

/// The channel on which `stage` sends activations to the stage with the next part, or that one
/// sends their gradients back.
Channel send_channel(int stage, int next, int stages, bool forward);
/// The other end of it.
Channel receiver_of(Channel send);

/// Fills Plan::groups and Plan::group_of for every channel that the scenario uses.
void add_groups(Plan& plan, const Scenario& scenario);

}  // namespace stepsim
