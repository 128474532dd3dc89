// Communication groups.
#include "sim/plan/group/groups.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <optional>
#include <set>

#include "sim/plan/group/group_streams.hpp"
#include "sim/plan/schedule.hpp"
#include "sim/scenario/rank_order.hpp"

namespace stepsim {
namespace {

/// All that groups depend on, besides the routes of the cluster.
struct GroupInputs {
  Scenario split;  ///< of its keys, those that say who has which part of the model
  Placement placement;
  bool holds_embedding_twice;
  bool operator==(const GroupInputs&) const = default;
};

GroupInputs inputs_of(const Scenario& scenario, const OpGraph& graph) {
  Scenario split;
  split.cluster = scenario.cluster;
  if (std::holds_alternative<Dlrm>(scenario.model.shape)) split.model.shape = scenario.model.shape;
  split.training.precision = scenario.training.precision;
  split.training.fp8_scaling = scenario.training.fp8_scaling;
  split.training.reduce_amax = scenario.training.reduce_amax;
  const Parallelism& from = scenario.parallelism;
  Parallelism& to = split.parallelism;
  to.order = from.order;
  to.tensor = from.tensor;
  to.context = from.context;
  to.expert = from.expert;
  to.embedding = from.embedding;
  to.pipeline = from.pipeline;
  to.data.sharding = from.data.sharding;
  to.data.shard_degree = from.data.shard_degree;
  return {split, placement_of(scenario), graph.tied_elements > 0};
}

struct Groups {
  std::vector<Group> all;
  Plan::GroupOf of_rank;
};

class GroupMaker {
 public:
  GroupMaker(const Network& network, const GroupInputs& inputs)
      : network_(network),
        scenario_(inputs.split),
        order_(inputs.split),
        placement_(inputs.placement) {
    groups_.of_rank.resize(static_cast<std::size_t>(scenario_.cluster.gpus()));
    for (auto& row : groups_.of_rank) row.fill(-1);
    add_all();
    if (inputs.holds_embedding_twice) add_embedding();
  }

  Groups take() { return std::move(groups_); }

 private:
  void add_all() {
    const Parallelism& split = scenario_.parallelism;
    for (int stage = 0; stage < split.pipeline.stages; ++stage) {
      add_inside_replicas(stage);
      add_amax(stage);
      for (int t = 0; t < split.tensor; ++t) add_experts(t, stage);
      if (std::holds_alternative<Dlrm>(scenario_.model.shape)) add_tables();
      const std::vector<int> holders = placement_.holders(stage);
      if (holders.front() != stage) continue;
      for (int t = 0; t < split.tensor; ++t) {
        add_replicas(t, holders);
        add_expert_replicas(t, holders);
      }
    }
    for (int replica = 0; replica < scenario_.replicas(); ++replica) add_replica(replica);
    // Most ranks send an activation and a gradient: far more groups than all others.
    if (split.pipeline.stages > 1)
      groups_.all.reserve(groups_.all.size() + 2 * groups_.of_rank.size());
    for (int stage = 0; stage < split.pipeline.stages; ++stage) {
      for (int chunk = 0; chunk < split.pipeline.chunks; ++chunk) add_transfers({stage, chunk});
    }
  }

  /// The stages that hold the word embedding twice, as table and as head. A stage that holds both
  /// ends of the model has it once.
  void add_embedding() {
    for (const auto& [first, last] : placement_.ends()) {
      if (placement_.holds(last, 0)) continue;
      for (int replica = 0; replica < scenario_.replicas(); ++replica) {
        for (int t = 0; t < scenario_.parallelism.tensor; ++t)
          add_collective({Channel::embedding},
                         {replica_rank(t, replica, first), replica_rank(t, replica, last)},
                         Moves::rings);
      }
    }
  }

  int contexts() const { return scenario_.parallelism.context.degree; }

  /// The rank of that context and data index, numbered together.
  int replica_rank(int tensor, int replica, int stage) const {
    return order_.rank_at({tensor, replica % contexts(), replica / contexts(), stage});
  }

  void add_inside_replicas(int stage) {
    const int tensors = scenario_.parallelism.tensor;
    for (int replica = 0; replica < scenario_.replicas(); ++replica) {
      std::vector<int> ranks;
      for (int t = 0; t < tensors; ++t) ranks.push_back(replica_rank(t, replica, stage));
      add_collective({Channel::tensor}, std::move(ranks), Moves::rings);
    }
    for (int d = 0; contexts() > 1 && d < scenario_.data_parallel(); ++d) {
      for (int t = 0; t < tensors; ++t) {
        std::vector<int> ranks;
        for (int c = 0; c < contexts(); ++c) ranks.push_back(order_.rank_at({t, c, d, stage}));
        add_collective({Channel::context}, std::move(ranks), context_moves());
      }
    }
  }

  /// All ranks of a stage, where they agree on the scales of fp8.
  void add_amax(int stage) {
    if (scenario_.training.amax_reduction() != AmaxReduction::all) return;
    std::vector<int> ranks;
    for (int replica = 0; replica < scenario_.replicas(); ++replica) {
      for (int t = 0; t < scenario_.parallelism.tensor; ++t)
        ranks.push_back(replica_rank(t, replica, stage));
    }
    // It carries a few kilobytes a pass: latency only.
    add_collective({Channel::amax}, std::move(ranks), Moves::none);
  }

  Moves context_moves() const {
    switch (scenario_.parallelism.context.kind) {
      case ContextKind::ring:
        return Moves::neighbours;
      case ContextKind::all_gather:
        return Moves::rings;
      case ContextKind::all_to_all:
        return Moves::pairs;
    }
    return Moves::rings;
  }

  /// All that hold the same dense parameters, on all stages that have copies of them.
  void add_replicas(int tensor, const std::vector<int>& stages) {
    std::vector<std::vector<int>> holders;
    for (const int stage : stages) holders.push_back(holders_of(tensor, stage, scenario_));
    add_reductions(holders, {Channel::data, Channel::data_gather, Channel::data_across});
  }

  struct ReductionChannels {
    Channel reduce, gather, across;
  };

  /// `holders`: of the same parameters, on each stage in order of rank. Neighbours share a copy of
  /// what is sharded; those that hold the same shard are a group, too.
  void add_reductions(const std::vector<std::vector<int>>& holders, ReductionChannels channels) {
    const auto groups = static_cast<std::size_t>(scenario_.shard_groups());
    const std::size_t size = holders.front().size() / groups;
    std::vector<std::vector<std::vector<int>>> sharing(
        groups, std::vector<std::vector<int>>(holders.size()));
    std::vector<std::vector<int>> same_shard(holders.size() * size);
    for (std::size_t stage = 0; stage < holders.size(); ++stage) {
      for (std::size_t i = 0; i < holders[stage].size(); ++i) {
        sharing[i / size][stage].push_back(holders[stage][i]);
        same_shard[stage * size + i % size].push_back(holders[stage][i]);
      }
    }
    std::vector<Channel> on_shares{channels.reduce};
    if (scenario_.parallelism.data.sharding.shards_optimizer)
      on_shares.push_back(channels.gather);
    for (const auto& of_stages : sharing)
      add_in_order(on_shares, node_by_node(of_stages), Moves::rings);
    for (auto& ranks : same_shard)
      add_collective({channels.across}, std::move(ranks), Moves::rings);
  }

  /// The ranks of several stages in an order in which each stage's nodes take turns: a ring then
  /// passes from stage to stage at every node, not at two, and the nodes stay alike. Where stages
  /// share nodes, in order of rank.
  std::vector<int> node_by_node(std::vector<std::vector<int>> of_stages) const {
    if (of_stages.size() == 1) {
      std::sort(of_stages.front().begin(), of_stages.front().end());
      return of_stages.front();
    }
    std::map<int, std::set<std::size_t>> stages_on;
    for (std::size_t stage = 0; stage < of_stages.size(); ++stage) {
      std::sort(of_stages[stage].begin(), of_stages[stage].end());
      for (const int rank : of_stages[stage]) stages_on[network_.node_of(rank)].insert(stage);
    }
    const bool shared = std::any_of(stages_on.begin(), stages_on.end(),
                                    [](const auto& on) { return on.second.size() > 1; });
    std::vector<int> ranks;
    std::vector<std::size_t> next(of_stages.size(), 0);
    for (bool more = true; more;) {
      more = false;
      for (std::size_t stage = 0; stage < of_stages.size(); ++stage) {
        const std::vector<int>& own = of_stages[stage];
        std::size_t& i = next[stage];
        if (i == own.size()) continue;
        const int node = network_.node_of(own[i]);
        for (; i < own.size() && network_.node_of(own[i]) == node; ++i) ranks.push_back(own[i]);
        more |= i < own.size();
      }
    }
    if (shared) std::sort(ranks.begin(), ranks.end());
    return ranks;
  }

  /// One rank for each share of the experts, in each group.
  void add_experts(int tensor, int stage) {
    const int degree = scenario_.parallelism.expert.degree;
    if (degree == 1) return;
    const auto shares = by_expert(tensor, stage);
    for (std::size_t i = 0; i < shares.front().size(); ++i) {
      std::vector<int> ranks;
      for (const auto& holders : shares) ranks.push_back(holders[i]);
      add_collective({Channel::expert}, std::move(ranks), Moves::pairs);
    }
  }

  /// Every rank is a data-parallel one.
  void add_tables() {
    std::vector<int> ranks(static_cast<std::size_t>(scenario_.cluster.gpus()));
    std::iota(ranks.begin(), ranks.end(), 0);
    const bool by_table = scenario_.parallelism.embedding == EmbeddingSplit::table;
    add_collective({Channel::tables}, std::move(ranks), by_table ? Moves::pairs : Moves::rings);
  }

  void add_expert_replicas(int tensor, const std::vector<int>& stages) {
    const int degree = scenario_.parallelism.expert.degree;
    if (degree == 1) return;
    for (int e = 0; e < degree; ++e) {
      std::vector<std::vector<int>> holders;
      for (const int stage : stages)
        holders.push_back(by_expert(tensor, stage)[static_cast<std::size_t>(e)]);
      add_reductions(holders,
                     {Channel::expert_data, Channel::expert_gather, Channel::expert_across});
    }
  }

  /// The ranks that hold each share of the experts.
  std::vector<std::vector<int>> by_expert(int tensor, int stage) const {
    std::vector<std::vector<int>> shares(
        static_cast<std::size_t>(scenario_.parallelism.expert.degree));
    const std::vector<int> holders = holders_of(tensor, stage, scenario_);
    for (std::size_t i = 0; i < holders.size(); ++i) {
      const int share = expert_index(static_cast<int>(i), scenario_);
      shares[static_cast<std::size_t>(share)].push_back(holders[i]);
    }
    return shares;
  }

  void add_replica(int replica) {
    std::vector<int> ranks;
    for (int stage = 0; stage < scenario_.parallelism.pipeline.stages; ++stage) {
      for (int t = 0; t < scenario_.parallelism.tensor; ++t)
        ranks.push_back(replica_rank(t, replica, stage));
    }
    // It carries a few bytes a step: latency only.
    add_collective({Channel::model}, std::move(ranks), Moves::none);
  }

  /// From a chunk to the stage that holds the next part, and back.
  void add_transfers(StagePlace place) {
    const auto next = placement_.next(place);
    if (!next || next->stage == place.stage) return;
    const Channel activation = channel_between(place.stage, next->stage, true);
    const Channel gradient = channel_between(place.stage, next->stage, false);
    for (int replica = 0; replica < scenario_.replicas(); ++replica) {
      for (int t = 0; t < scenario_.parallelism.tensor; ++t) {
        const int here = replica_rank(t, replica, place.stage);
        const int there = replica_rank(t, replica, next->stage);
        add_pair(here, there, activation);
        add_pair(there, here, gradient);
      }
    }
  }

  Channel channel_between(int stage, int next, bool forward) const {
    return send_channel(stage, next, scenario_.parallelism.pipeline.stages, forward);
  }

  void add_pair(int from, int to, Channel send) {
    if (member(from, send) >= 0) return;  // another chunk goes the same way
    const Channel receive = receiver_of(send);
    Group group{.channel = send, .ranks = {from, to}};
    group.shape = {2, network_.node_of(from) == network_.node_of(to) ? 1 : 2, 1};
    group.streams[static_cast<std::size_t>(Pattern::neighbours)].push_back(
        {1, network_.route(from, to)});
    member(from, send) = member(to, receive) = static_cast<int>(groups_.all.size());
    groups_.all.push_back(std::move(group));
  }

  void add_collective(const std::vector<Channel>& channels, std::vector<int> ranks, Moves moves) {
    std::sort(ranks.begin(), ranks.end());
    add_in_order(channels, std::move(ranks), moves);
  }

  /// The same ranks may have several channels, each a group of its own.
  void add_in_order(const std::vector<Channel>& channels, std::vector<int> ranks, Moves moves) {
    if (ranks.size() < 2) return;
    Group group{.channel = channels.front(), .ranks = std::move(ranks)};
    lay_out(group, network_, moves);
    for (const Channel channel : channels) {
      group.channel = channel;
      for (const int rank : group.ranks)
        member(rank, channel) = static_cast<int>(groups_.all.size());
      groups_.all.push_back(group);
    }
  }

  int& member(int rank, Channel channel) {
    return groups_.of_rank[static_cast<std::size_t>(rank)][static_cast<std::size_t>(channel)];
  }

  const Network& network_;
  const Scenario& scenario_;
  const RankOrdering order_;
  const Placement& placement_;
  Groups groups_;
};

using Shapes = std::array<GroupShape, kChannels>;

/// Of each rank, a number that ranks share whose groups have the same shapes.
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

}  // namespace

Channel send_channel(int stage, int next, int stages, bool forward) {
  const bool around = next == (stage + 1) % stages;
  if (forward) return around ? Channel::send_forward : Channel::send_forward_up;
  return around ? Channel::send_backward : Channel::send_backward_up;
}

Channel receiver_of(Channel send) { return transfer_channel(transfer_index(send) + 1); }

Shared<std::vector<int>> add_groups(Plan& plan, const Scenario& scenario, const OpGraph& graph) {
  // Points of a sweep that differ in other keys have the groups of the one before, and copies of
  // the process find them there: a tenth of the instructions of a point on 16,384 GPUs.
  struct Known {
    GroupInputs inputs;
    Shared<std::vector<Group>> all;
    Shared<Plan::GroupOf> of_rank;
    Shared<std::vector<int>> kinds;
  };
  static std::optional<Known> last;
  GroupInputs inputs = inputs_of(scenario, graph);
  if (!last || last->inputs != inputs) {
    Groups made = GroupMaker(plan.network, inputs).take();
    std::vector<int> kinds = kinds_of(made);
    last = Known{std::move(inputs), std::move(made.all), std::move(made.of_rank), std::move(kinds)};
  }
  plan.groups = last->all;
  plan.group_of = last->of_rank;
  return last->kinds;
}

}  // namespace stepsim
