// Communication groups and their routes between nodes.
#include "sim/plan/groups.hpp"

#include <algorithm>

#include "sim/plan/schedule.hpp"
#include "sim/plan/sharding.hpp"

namespace stepsim {
namespace {

class GroupMaker {
 public:
  GroupMaker(Plan& plan, const Scenario& scenario)
      : plan_(plan), scenario_(scenario), placement_(placement_of(scenario)) {
    plan.group_of.resize(static_cast<std::size_t>(scenario.cluster.gpus()));
    for (auto& row : plan.group_of) row.fill(-1);
  }

  void add_all() {
    const Parallelism& split = scenario_.parallelism;
    for (int stage = 0; stage < split.pipeline.stages; ++stage) {
      add_inside_replicas(stage);
      for (int t = 0; t < split.tensor; ++t) add_experts(t, stage);
      const std::vector<int> holders = placement_.holders(stage);
      if (holders.front() != stage) continue;
      for (int t = 0; t < split.tensor; ++t) {
        add_replicas(t, holders);
        add_expert_replicas(t, holders);
      }
    }
    for (int replica = 0; replica < scenario_.replicas(); ++replica) add_replica(replica);
    for (int stage = 0; stage < split.pipeline.stages; ++stage) {
      for (int chunk = 0; chunk < split.pipeline.chunks; ++chunk) add_transfers({stage, chunk});
    }
  }

 private:
  int contexts() const { return scenario_.parallelism.context.degree; }

  /// The `replica`-th of the ranks that hold the same dense parameters.
  int replica_rank(int tensor, int replica, int stage) const {
    return rank_at({tensor, replica % contexts(), replica / contexts(), stage}, scenario_);
  }

  void add_inside_replicas(int stage) {
    const int tensors = scenario_.parallelism.tensor;
    for (int replica = 0; replica < scenario_.replicas(); ++replica) {
      std::vector<int> ranks;
      for (int t = 0; t < tensors; ++t) ranks.push_back(replica_rank(t, replica, stage));
      add_collective({Channel::tensor}, std::move(ranks), Routes::ring);
    }
    for (int d = 0; d < scenario_.data_parallel(); ++d) {
      for (int t = 0; t < tensors; ++t) {
        std::vector<int> ranks;
        for (int c = 0; c < contexts(); ++c) ranks.push_back(rank_at({t, c, d, stage}, scenario_));
        add_collective({Channel::context}, std::move(ranks), context_routes());
      }
    }
  }

  enum class Routes {
    ring,       ///< on every NIC that the group uses, from each node to the next
    one_ring,   ///< from the last rank of each node to the first of the next
    all_pairs,  ///< on every NIC, from each node to every other
    none
  };

  Routes context_routes() const {
    switch (scenario_.parallelism.context.kind) {
      case ContextKind::ring:
        return Routes::one_ring;
      case ContextKind::all_gather:
        return Routes::ring;
      case ContextKind::all_to_all:
        return Routes::all_pairs;
    }
    return Routes::ring;
  }

  /// All that hold the same dense parameters: the replicas, and where there are copies of the model
  /// their other holders.
  void add_replicas(int tensor, const std::vector<int>& stages) {
    std::vector<int> ranks;
    for (const int stage : stages) {
      for (int replica = 0; replica < scenario_.replicas(); ++replica)
        ranks.push_back(replica_rank(tensor, replica, stage));
    }
    add_collective(reduction_channels(Channel::data, Channel::data_gather), std::move(ranks),
                   Routes::ring);
  }

  std::vector<Channel> reduction_channels(Channel reduce, Channel gather) const {
    if (strategy_of(scenario_.parallelism.data.sharding).shards_optimizer) return {reduce, gather};
    return {reduce};
  }

  void add_experts(int tensor, int stage) {
    const int degree = scenario_.parallelism.expert.degree;
    if (degree == 1) return;
    const int data = scenario_.data_parallel();
    for (int first = 0; first < data; first += degree) {
      for (int c = 0; c < contexts(); ++c) {
        std::vector<int> ranks;
        for (int e = 0; e < degree; ++e)
          ranks.push_back(rank_at({tensor, c, first + e, stage}, scenario_));
        add_collective({Channel::expert}, std::move(ranks), Routes::all_pairs);
      }
    }
  }

  void add_expert_replicas(int tensor, const std::vector<int>& stages) {
    const int degree = scenario_.parallelism.expert.degree;
    if (degree == 1) return;
    for (int e = 0; e < degree; ++e) {
      std::vector<int> ranks;
      for (const int stage : stages) {
        for (int d = e; d < scenario_.data_parallel(); d += degree) {
          for (int c = 0; c < contexts(); ++c)
            ranks.push_back(rank_at({tensor, c, d, stage}, scenario_));
        }
      }
      add_collective(reduction_channels(Channel::expert_data, Channel::expert_gather),
                     std::move(ranks), Routes::ring);
    }
  }

  void add_replica(int replica) {
    std::vector<int> ranks;
    for (int stage = 0; stage < scenario_.parallelism.pipeline.stages; ++stage) {
      for (int t = 0; t < scenario_.parallelism.tensor; ++t)
        ranks.push_back(replica_rank(t, replica, stage));
    }
    // It carries a few bytes a step: latency only.
    add_collective({Channel::model}, std::move(ranks), Routes::none);
  }

  /// From a chunk to the stage that holds the next part, and back.
  void add_transfers(Place place) {
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
    group.shape = {2, plan_.network.node_of(from) == plan_.network.node_of(to) ? 1 : 2, 1};
    auto route = plan_.network.route(from, to);
    if (!route.empty()) group.routes.push_back(std::move(route));
    member(from, send) = member(to, receive) = static_cast<int>(plan_.groups.size());
    plan_.groups.push_back(std::move(group));
  }

  /// The same ranks may have several channels, each a group of its own.
  void add_collective(const std::vector<Channel>& channels, std::vector<int> ranks, Routes routes) {
    if (ranks.size() < 2) return;
    Group group{.channel = channels.front(), .ranks = std::move(ranks)};
    add_routes(group, routes);
    for (const Channel channel : channels) {
      group.channel = channel;
      for (const int rank : group.ranks)
        member(rank, channel) = static_cast<int>(plan_.groups.size());
      plan_.groups.push_back(group);
    }
  }

  /// How the group lies on the cluster, and its routes between nodes: on the NICs that its members
  /// own, as many of each node as the node with the fewest has.
  void add_routes(Group& group, Routes routes) {
    const Network& network = plan_.network;
    std::vector<int> nodes;
    std::vector<std::vector<int>> nics;
    for (const int rank : group.ranks) {
      const Port port = network.port_of(rank);
      if (nodes.empty() || nodes.back() != port.node) {
        nodes.push_back(port.node);
        nics.emplace_back();
      }
      auto& own = nics.back();
      if (std::find(own.begin(), own.end(), port.nic) == own.end()) own.push_back(port.nic);
    }
    std::size_t shares = nics.front().size();
    for (const auto& own : nics) shares = std::min(shares, own.size());
    group.shape = {static_cast<int>(group.ranks.size()), static_cast<int>(nodes.size()),
                   static_cast<int>(shares)};
    if (nodes.size() < 2 || routes == Routes::none) return;
    if (routes == Routes::one_ring) return add_boundaries(group);
    const std::size_t partners = routes == Routes::ring ? 1 : nodes.size() - 1;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      for (std::size_t hop = 1; hop <= partners; ++hop) {
        const std::size_t to = (i + hop) % nodes.size();
        for (std::size_t k = 0; k < shares; ++k)
          group.routes.push_back(
              network.route(Port{nodes[i], nics[i][k]}, Port{nodes[to], nics[to][k]}));
      }
    }
  }

  void add_boundaries(Group& group) {
    group.shape.routes = 1;
    for (std::size_t i = 0; i < group.ranks.size(); ++i) {
      auto route = plan_.network.route(group.ranks[i], group.ranks[(i + 1) % group.ranks.size()]);
      if (!route.empty()) group.routes.push_back(std::move(route));
    }
  }

  int& member(int rank, Channel channel) {
    return plan_.group_of[static_cast<std::size_t>(rank)][static_cast<std::size_t>(channel)];
  }

  Plan& plan_;
  const Scenario& scenario_;
  const Placement placement_;
};

}  // namespace

RankPlace place_of(int rank, const Scenario& scenario) {
  const int tensor = scenario.parallelism.tensor;
  const int context = scenario.parallelism.context.degree;
  const int replica = rank / tensor % scenario.replicas();
  return {rank % tensor, replica % context, replica / context,
          rank / (tensor * scenario.replicas())};
}

int rank_at(RankPlace place, const Scenario& scenario) {
  const int replica = place.data * scenario.parallelism.context.degree + place.context;
  return (place.stage * scenario.replicas() + replica) * scenario.parallelism.tensor + place.tensor;
}

Channel send_channel(int stage, int next, int stages, bool forward) {
  const bool around = next == (stage + 1) % stages;
  if (forward) return around ? Channel::send_forward : Channel::send_forward_up;
  return around ? Channel::send_backward : Channel::send_backward_up;
}

Channel receiver_of(Channel send) { return transfer_channel(transfer_index(send) + 1); }

void add_groups(Plan& plan, const Scenario& scenario) { GroupMaker(plan, scenario).add_all(); }

}  // namespace stepsim
