// Tables of groups, and the ranks in each.
#include "sim/plan/group/members.hpp"

#include <iterator>
#include <numeric>

#include "sim/scenario/expert_mesh.hpp"

namespace stepsim {
namespace {

template <Axis axis>
std::vector<Ranks> along(const Split& split, int stage) {
  if (degree_of(axis, split.scenario) == 1) return {};
  return split.order.all_along(axis, stage);
}

/// All ranks of the stage, where they agree on the scales of fp8.
std::vector<Ranks> all_of_stage(const Split& split, int stage) {
  if (channel_among(split.scenario.training.amax_reduction()) != Channel::amax) return {};
  Ranks ranks;
  for (int replica = 0; replica < split.scenario.replicas(); ++replica) {
    for (int t = 0; t < split.scenario.parallelism.tensor; ++t)
      ranks.push_back(split.rank_of(t, replica, stage));
  }
  return {ranks};
}

/// One rank for each part of the experts.
std::vector<Ranks> among_experts(const Split& split, int stage) {
  if (split.scenario.parallelism.expert.degree == 1) return {};
  std::vector<Ranks> groups;
  for (const auto& parts : expert_holders(split.scenario, stage)) {
    for (std::size_t i = 0; i < parts.front().size(); ++i) {
      Ranks& ranks = groups.emplace_back();
      for (const Ranks& holders : parts) ranks.push_back(holders[i]);
    }
  }
  return groups;
}

/// One rank for each share of every expert, where tensor ranks do not share them.
std::vector<Ranks> within_experts(const Split& split, int stage) {
  const ExpertMesh mesh = expert_mesh(split.scenario);
  if (!mesh.own_tensor || mesh.tensor == 1) return {};
  const auto shares = expert_holders(split.scenario, stage);
  std::vector<Ranks> groups;
  for (std::size_t part = 0; part < shares.front().size(); ++part) {
    for (std::size_t i = 0; i < shares.front().front().size(); ++i) {
      Ranks& ranks = groups.emplace_back();
      for (const auto& parts : shares) ranks.push_back(parts[part][i]);
    }
  }
  return groups;
}

/// Each rank of a recommendation model is a data-parallel one, and has some of the tables.
std::vector<Ranks> among_tables(const Split& split, int /*stage*/) {
  if (!std::holds_alternative<Dlrm>(split.scenario.model.shape)) return {};
  Ranks ranks(static_cast<std::size_t>(split.scenario.cluster.gpus()));
  std::iota(ranks.begin(), ranks.end(), 0);
  return {ranks};
}

Moves moves_of_context(const Scenario& scenario) {
  switch (scenario.parallelism.context.kind) {
    case ContextKind::ring:
      return Moves::neighbours;
    case ContextKind::all_gather:
      return Moves::rings;
    case ContextKind::all_to_all:
      return Moves::pairs;
  }
  return Moves::rings;
}

/// Pieces of operands go around.
Moves moves_of_tensor(const Scenario& scenario) {
  return scenario.parallelism.split_products == SplitProducts::none ? Moves::rings
                                                                    : Moves::rings_and_neighbours;
}

Moves moves_of_tokens(const Scenario& scenario) {
  return scenario.parallelism.expert.dispatcher == Dispatcher::all_gather ? Moves::rings
                                                                          : Moves::pairs;
}

Moves moves_of_tables(const Scenario& scenario) {
  return scenario.parallelism.embedding == EmbeddingSplit::table ? Moves::pairs : Moves::rings;
}

template <Moves moves>
Moves always(const Scenario&) {
  return moves;
}

constexpr StageGroups kStageGroups[] = {
    {channel_along(Axis::tensor), along<Axis::tensor>, moves_of_tensor},
    {channel_along(Axis::context), along<Axis::context>, moves_of_context},
    // Agreeing on scales carries a few kilobytes a pass: latency only.
    {Channel::amax, all_of_stage, always<Moves::none>},
    {channel_along(Axis::expert), among_experts, moves_of_tokens},
    {channel_along(Axis::expert_tensor), within_experts, always<Moves::rings>},
    {channel_along(Axis::tables), among_tables, moves_of_tables},
};
static_assert(std::size(kStageGroups) == kPassAxes + 1, "an axis of passes has no groups");

}  // namespace

int Split::rank_of(int tensor, int replica, int stage) const {
  const int contexts = scenario.parallelism.context.degree;
  return order.rank_at({tensor, replica % contexts, replica / contexts, stage});
}

std::span<const StageGroups> stage_groups() { return kStageGroups; }

Ranks ranks_of_replica(const Split& split, int replica) {
  Ranks ranks;
  for (int stage = 0; stage < split.scenario.parallelism.pipeline.stages; ++stage) {
    for (int t = 0; t < split.scenario.parallelism.tensor; ++t)
      ranks.push_back(split.rank_of(t, replica, stage));
  }
  return ranks;
}

std::vector<Ranks> embedding_pairs(const Split& split) {
  std::vector<Ranks> pairs;
  for (const auto& [first, last] : split.placement.ends()) {
    if (split.placement.holds(last, 0)) continue;
    for (int replica = 0; replica < split.scenario.replicas(); ++replica) {
      for (int t = 0; t < split.scenario.parallelism.tensor; ++t)
        pairs.push_back({split.rank_of(t, replica, first), split.rank_of(t, replica, last)});
    }
  }
  return pairs;
}

Axis axis_of(Channel channel, int stages) {
  return channel == Channel::model && stages == 1 ? Axis::tensor : axis_of(channel);
}

std::optional<Channel> channel_among(AmaxReduction ranks) {
  switch (ranks) {
    case AmaxReduction::all:
      return Channel::amax;
    case AmaxReduction::tensor:
      return channel_along(Axis::tensor);
    case AmaxReduction::none:
      break;
  }
  return std::nullopt;
}

}  // namespace stepsim
