// Which ranks are in a group, channel by channel.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "sim/plan/group/channel.hpp"
#include "sim/plan/group/group_streams.hpp"
#include "sim/plan/schedule.hpp"
#include "sim/scenario/rank_order.hpp"

namespace stepsim {

/// Ranks of one group.
using Ranks = std::vector<int>;

/// Who has which part of the model and of the batch.
struct Split {
  const Scenario& scenario;
  RankOrdering order;
  const Placement& placement;

  /// The rank of that tensor index and stage in a replica: a context and data index, numbered
  /// together.
  int rank_of(int tensor, int replica, int stage) const;
};

/// The groups of one channel that the passes of a stage use.
struct StageGroups {
  Channel channel;
  /// The ranks of each group, in order of the groups' numbers; one rank alone is no group.
  std::vector<Ranks> (*groups)(const Split& split, int stage);
  Moves (*moves)(const Scenario& scenario);  ///< what their operations are made of
};

/// One entry for each channel of a pass, in the order in which groups are numbered.
std::span<const StageGroups> stage_groups();

/// All tensor ranks and stages of a replica.
Ranks ranks_of_replica(const Split& split, int replica);

/// The pairs of stages that hold the word embedding twice, as table and as head, in each replica. A
/// stage that holds both ends of the model has it once.
std::vector<Ranks> embedding_pairs(const Split& split);

/// The axis of a run with that many stages. Without a pipeline all ranks of a replica are tensor
/// ranks, and nothing waits for a stage.
Axis axis_of(Channel channel, int stages);

/// The channel of the ranks that agree on the scales of fp8; nothing: nobody does.
std::optional<Channel> channel_among(AmaxReduction ranks);

}  // namespace stepsim
