// Groups of every rank: numbered, and laid out on the cluster.
#include "sim/plan/group/groups.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>

#include "sim/plan/group/block_symmetry.hpp"
#include "sim/plan/group/members.hpp"
#include "sim/plan/plan_cache.hpp"
#include "sim/scenario/expert_mesh.hpp"

namespace stepsim {
namespace {

/// Keys of parallelism are compared unless they are left out here: one too many costs time, one too
/// few would be another plan's groups.
GroupInputs inputs_of(const Scenario& scenario, const OpGraph& graph, LayOut lay_out) {
  Scenario split;
  split.cluster = scenario.cluster;
  if (std::holds_alternative<Dlrm>(scenario.model.shape)) split.model.shape = scenario.model.shape;
  split.training.precision = scenario.training.precision;
  split.training.fp8_scaling = scenario.training.fp8_scaling;
  split.training.reduce_amax = scenario.training.reduce_amax;
  split.parallelism = scenario.parallelism;
  split.parallelism.sequence = false;
  const DataParallel& from = scenario.parallelism.data;
  split.parallelism.data = {};
  split.parallelism.data.sharding = from.sharding;
  split.parallelism.data.shard_degree = from.shard_degree;
  return {split, placement_of(scenario), graph.tied_elements > 0, lay_out == LayOut::first_block};
}

/// Most are in order already.
void put_in_order(Ranks& ranks) {
  if (!std::ranges::is_sorted(ranks)) std::ranges::sort(ranks);
}

struct Groups {
  std::vector<Group> all;
  Plan::GroupOf of_rank;
};

class GroupMaker {
 public:
  GroupMaker(const Network& network, const GroupInputs& inputs, const Blocks& blocks)
      : network_(network),
        scenario_(inputs.split),
        placement_(inputs.placement),
        split_{scenario_, RankOrdering(scenario_), placement_},
        symmetry_(network, blocks) {
    groups_.of_rank.resize(static_cast<std::size_t>(scenario_.cluster.gpus() / blocks.count));
    for (auto& row : groups_.of_rank) row.fill(-1);
    add_all();
    if (inputs.holds_embedding_twice) {
      for (Ranks& ranks : embedding_pairs(split_))
        add_collective({Channel::embedding}, std::move(ranks), Moves::rings);
    }
  }

  /// Nothing where the blocks are not alike.
  std::optional<Groups> take() {
    if (!are_alike_) return std::nullopt;
    return std::move(groups_);
  }

 private:
  const Blocks& blocks() const { return symmetry_.blocks(); }
  /// Replicas, context and data index numbered together, that have all their ranks in the first
  /// block. Others have theirs in one block, too, shifted by as much.
  int replicas() const { return scenario_.replicas() / blocks().count; }

  void add_all() {
    const Parallelism& split = scenario_.parallelism;
    for (int stage = 0; stage < split.pipeline.stages && are_alike_; ++stage) {
      for (const StageGroups& of_channel : stage_groups()) {
        for (Ranks& ranks : of_channel.groups(split_, stage))
          add_collective({of_channel.channel}, std::move(ranks), of_channel.moves(scenario_));
      }
      const std::vector<int> holders = placement_.holders(stage);
      if (holders.front() != stage) continue;
      const std::vector<ExpertParts> experts = parts_of_experts(holders);
      const auto tensor = static_cast<std::size_t>(split.tensor);
      for (std::size_t t = 0; t < std::max(tensor, experts.size()); ++t) {
        if (t < tensor) add_replicas(static_cast<int>(t), holders);
        if (t < experts.size()) add_expert_replicas(experts[t]);
      }
    }
    // What all of a replica agree on is a few bytes a step: latency only.
    for (int replica = 0; replica < replicas(); ++replica)
      add_collective({Channel::model}, ranks_of_replica(split_, replica), Moves::none);
    // Most ranks send an activation and a gradient: far more groups than all others.
    if (split.pipeline.stages > 1)
      groups_.all.reserve(groups_.all.size() + 2 * groups_.of_rank.size());
    for (int stage = 0; stage < split.pipeline.stages && are_alike_; ++stage) {
      for (int chunk = 0; chunk < split.pipeline.chunks; ++chunk) add_transfers({stage, chunk});
    }
  }

  /// The ranks that hold the same dense parameters, on all stages that have copies of them.
  void add_replicas(int tensor, const std::vector<int>& stages) {
    std::vector<Ranks> holders;
    for (const int stage : stages) holders.push_back(holders_of(tensor, stage, scenario_));
    add_reductions(holders, {Channel::data, Channel::data_gather, Channel::data_across});
  }

  /// Holders of each part of the experts, on each stage that has copies of them.
  using ExpertParts = std::vector<std::vector<Ranks>>;

  /// By experts' tensor index; {}: their parameters are reduced as all others are.
  std::vector<ExpertParts> parts_of_experts(const std::vector<int>& stages) const {
    const ExpertMesh mesh = expert_mesh(scenario_);
    if (!mesh.is_own()) return {};
    std::vector<ExpertParts> all(static_cast<std::size_t>(mesh.tensor),
                                 ExpertParts(static_cast<std::size_t>(mesh.degree)));
    for (const int stage : stages) {
      auto shares = expert_holders(scenario_, stage);
      for (std::size_t t = 0; t < shares.size(); ++t) {
        for (std::size_t e = 0; e < shares[t].size(); ++e)
          all[t][e].push_back(std::move(shares[t][e]));
      }
    }
    return all;
  }

  void add_expert_replicas(const ExpertParts& parts) {
    for (const std::vector<Ranks>& holders : parts)
      add_reductions(holders,
                     {Channel::expert_data, Channel::expert_gather, Channel::expert_across});
  }

  struct ReductionChannels {
    Channel reduce, gather, across;
  };

  /// `holders`: of the same parameters, on each stage in order of rank. Neighbours share a copy of
  /// what is sharded; those that hold the same shard are a group, too.
  void add_reductions(const std::vector<Ranks>& holders, ReductionChannels channels) {
    std::vector<Channel> on_shares{channels.reduce};
    if (scenario_.parallelism.data.sharding.shards_optimizer) on_shares.push_back(channels.gather);
    const auto groups = static_cast<std::size_t>(scenario_.shard_groups());
    if (groups == 1) {  // no two ranks hold the same shard
      add_in_order(on_shares, node_by_node(holders), Moves::rings);
      return;
    }
    const std::size_t size = holders.front().size() / groups;
    std::vector<std::vector<Ranks>> sharing(groups, std::vector<Ranks>(holders.size()));
    std::vector<Ranks> same_shard(holders.size() * size);
    for (std::size_t stage = 0; stage < holders.size(); ++stage) {
      for (std::size_t i = 0; i < holders[stage].size(); ++i) {
        sharing[i / size][stage].push_back(holders[stage][i]);
        same_shard[stage * size + i % size].push_back(holders[stage][i]);
      }
    }
    for (auto& of_stages : sharing)
      add_in_order(on_shares, node_by_node(std::move(of_stages)), Moves::rings);
    for (auto& ranks : same_shard)
      add_collective({channels.across}, std::move(ranks), Moves::rings);
  }

  /// The ranks of several stages in an order in which each stage's nodes take turns: a ring then
  /// passes from stage to stage at every node, not at two, and the nodes stay alike. Where stages
  /// share nodes, in order of rank.
  Ranks node_by_node(std::vector<Ranks> of_stages) const {
    if (of_stages.size() == 1) {
      put_in_order(of_stages.front());
      return std::move(of_stages.front());
    }
    std::map<int, std::set<std::size_t>> stages_on;
    for (std::size_t stage = 0; stage < of_stages.size(); ++stage) {
      std::ranges::sort(of_stages[stage]);
      for (const int rank : of_stages[stage]) stages_on[network_.node_of(rank)].insert(stage);
    }
    const bool shared =
        std::ranges::any_of(stages_on, [](const auto& on) { return on.second.size() > 1; });
    Ranks ranks;
    std::vector<std::size_t> next(of_stages.size(), 0);
    for (bool more = true; more;) {
      more = false;
      for (std::size_t stage = 0; stage < of_stages.size(); ++stage) {
        const Ranks& own = of_stages[stage];
        std::size_t& i = next[stage];
        if (i == own.size()) continue;
        const int node = network_.node_of(own[i]);
        for (; i < own.size() && network_.node_of(own[i]) == node; ++i) ranks.push_back(own[i]);
        more |= i < own.size();
      }
    }
    if (shared) std::ranges::sort(ranks);
    return ranks;
  }

  /// From a chunk to the stage that holds the next part, and back.
  void add_transfers(StagePlace place) {
    const auto next = placement_.next(place);
    if (!next || next->stage == place.stage) return;
    const int stages = scenario_.parallelism.pipeline.stages;
    const Channel activation = send_channel(place.stage, next->stage, stages, true);
    const Channel gradient = send_channel(place.stage, next->stage, stages, false);
    for (int replica = 0; replica < replicas(); ++replica) {
      for (int t = 0; t < scenario_.parallelism.tensor; ++t) {
        const int here = split_.rank_of(t, replica, place.stage);
        const int there = split_.rank_of(t, replica, next->stage);
        add_pair(here, there, activation);
        add_pair(there, here, gradient);
      }
    }
  }

  void add_pair(int from, int to, Channel send) {
    if (member(from, send) >= 0) return;  // another chunk goes that way already
    const Channel receive = receiver_of(send);
    Group group{.channel = send, .ranks = {from, to}};
    group.shape = {2, network_.node_of(from) == network_.node_of(to) ? 1 : 2, 1};
    group.streams[static_cast<std::size_t>(Pattern::neighbours)].push_back(
        {1, network_.route(from, to)});
    member(from, send) = member(to, receive) = static_cast<int>(groups_.all.size());
    groups_.all.push_back(std::move(group));
  }

  void add_collective(const std::vector<Channel>& channels, Ranks ranks, Moves moves) {
    put_in_order(ranks);
    add_in_order(channels, std::move(ranks), moves);
  }

  /// One group for each of the channels, all of the same ranks in this order.
  void add_in_order(const std::vector<Channel>& channels, Ranks ranks, Moves moves) {
    if (ranks.size() < 2 || !are_alike_) return;
    const Reach reach = symmetry_.reach_of(ranks);
    if (reach == Reach::other_block) {
      are_alike_ = is_copy(ranks, channels.front());
      return;
    }
    Group group{.channel = channels.front(), .ranks = std::move(ranks)};
    lay_out(group, network_, moves);
    if (reach == Reach::several_blocks && !symmetry_.keeps(group)) are_alike_ = false;
    for (const Channel channel : channels) {
      group.channel = channel;
      for (const int rank : group.ranks) {
        if (blocks().block_of(rank) == 0)
          member(rank, channel) = static_cast<int>(groups_.all.size());
      }
      groups_.all.push_back(group);
    }
  }

  /// Whether the ranks, all of one block, are those of a group of the first block, shifted.
  bool is_copy(const Ranks& ranks, Channel channel) {
    const int shift = ranks.front() - blocks().first_like(ranks.front());
    const int first = member(ranks.front(), channel);
    if (first < 0) return false;
    return std::ranges::equal(ranks, groups_.all[static_cast<std::size_t>(first)].ranks, {},
                              [&](int rank) { return rank - shift; });
  }

  int& member(int rank, Channel channel) {
    return groups_.of_rank[blocks().index_of(rank)][static_cast<std::size_t>(channel)];
  }

  const Network& network_;
  const Scenario& scenario_;
  const Placement& placement_;
  const Split split_;
  BlockSymmetry symmetry_;
  bool are_alike_ = true;
  Groups groups_;
};

using Shapes = std::array<GroupShape, kChannels>;

/// A number for each rank, which ranks share whose groups have the same shapes.
std::vector<int> kinds_of(const Groups& groups) {
  std::map<Shapes, int> known;
  std::vector<int> kinds;
  for (const auto& of_rank : groups.of_rank) {
    Shapes shapes;
    for (std::size_t channel = 0; channel < kChannels; ++channel) {
      const int group = of_rank[channel];
      if (group >= 0) shapes[channel] = groups.all[static_cast<std::size_t>(group)].shape;
    }
    kinds.push_back(known.emplace(shapes, static_cast<int>(known.size())).first->second);
  }
  return kinds;
}

KnownGroups made(const Network& network, GroupInputs inputs) {
  std::vector<Blocks> ways;
  if (inputs.may_have_blocks) ways = possible_blocks(inputs.split, network);
  ways.emplace_back();  // of all ranks
  std::optional<Groups> groups;
  std::size_t way = 0;
  while (!(groups = GroupMaker(network, inputs, ways[way]).take())) ++way;
  std::vector<int> kinds = kinds_of(*groups);
  return {std::move(inputs), ways[way], std::move(groups->all), std::move(groups->of_rank),
          std::move(kinds)};
}

}  // namespace

Shared<std::vector<int>> add_groups(Plan& plan, const Scenario& scenario, const OpGraph& graph,
                                    LayOut lay_out) {
  std::optional<KnownGroups> own;
  std::optional<KnownGroups>& known = plan.cache != nullptr ? plan.cache->groups : own;
  GroupInputs inputs = inputs_of(scenario, graph, lay_out);
  if (!known || known->inputs != inputs) known = made(plan.network, std::move(inputs));
  plan.blocks = known->blocks;
  plan.groups = known->all;
  plan.group_of = known->of_rank;
  return known->kinds;
}

}  // namespace stepsim
