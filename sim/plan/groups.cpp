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
    const int data = scenario_.data_parallel();
    const bool gathers = strategy_of(split.data.sharding).shards_optimizer;
    for (int stage = 0; stage < split.pipeline.stages; ++stage) {
      for (int d = 0; d < data; ++d) add_tensor(d, stage);
      const std::vector<int> holders = placement_.holders(stage);
      if (holders.front() != stage) continue;
      for (int t = 0; t < split.tensor; ++t) {
        add_data(Channel::data, t, holders);
        if (gathers) add_data(Channel::data_gather, t, holders);
      }
    }
    for (int d = 0; d < data; ++d) add_replica(d);
    for (int stage = 0; stage < split.pipeline.stages; ++stage) {
      for (int chunk = 0; chunk < split.pipeline.chunks; ++chunk) add_transfers({stage, chunk});
    }
  }

 private:
  void add_tensor(int data, int stage) {
    std::vector<int> ranks;
    for (int t = 0; t < scenario_.parallelism.tensor; ++t)
      ranks.push_back(rank_at({t, data, stage}, scenario_));
    if (ranks.size() > 1) add_collective(Channel::tensor, std::move(ranks));
  }

  /// All that hold the same parameters: the replicas, and where there are copies of the model their
  /// other holders.
  void add_data(Channel channel, int tensor, const std::vector<int>& stages) {
    std::vector<int> ranks;
    for (const int stage : stages) {
      for (int d = 0; d < scenario_.data_parallel(); ++d)
        ranks.push_back(rank_at({tensor, d, stage}, scenario_));
    }
    if (ranks.size() > 1) add_collective(channel, std::move(ranks));
  }

  void add_replica(int data) {
    std::vector<int> ranks;
    for (int stage = 0; stage < scenario_.parallelism.pipeline.stages; ++stage) {
      for (int t = 0; t < scenario_.parallelism.tensor; ++t)
        ranks.push_back(rank_at({t, data, stage}, scenario_));
    }
    if (ranks.size() < 2) return;
    add_collective(Channel::model, std::move(ranks));
    plan_.groups.back().routes.clear();  // carries a few bytes a step: latency only
  }

  /// From a chunk to the stage that holds the next part, and back.
  void add_transfers(Place place) {
    const auto next = placement_.next(place);
    if (!next || next->stage == place.stage) return;
    const Channel activation = channel_between(place.stage, next->stage, true);
    const Channel gradient = channel_between(place.stage, next->stage, false);
    for (int d = 0; d < scenario_.data_parallel(); ++d) {
      for (int t = 0; t < scenario_.parallelism.tensor; ++t) {
        const int here = rank_at({t, d, place.stage}, scenario_);
        const int there = rank_at({t, d, next->stage}, scenario_);
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

  void add_collective(Channel channel, std::vector<int> ranks) {
    Group group{.channel = channel, .ranks = std::move(ranks)};
    add_ring(group);
    for (const int rank : group.ranks)
      member(rank, channel) = static_cast<int>(plan_.groups.size());
    plan_.groups.push_back(std::move(group));
  }

  /// A ring over the group's nodes; the NICs that its members own on a node carry a share each to
  /// the next one, as many as the node with the fewest has.
  void add_ring(Group& group) {
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
    if (nodes.size() < 2) return;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      const std::size_t next = (i + 1) % nodes.size();
      for (std::size_t k = 0; k < shares; ++k) {
        group.routes.push_back(
            network.route(Port{nodes[i], nics[i][k]}, Port{nodes[next], nics[next][k]}));
      }
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
  const int data = scenario.data_parallel();
  return {rank % tensor, rank / tensor % data, rank / (tensor * data)};
}

int rank_at(RankPlace place, const Scenario& scenario) {
  return (place.stage * scenario.data_parallel() + place.data) * scenario.parallelism.tensor +
         place.tensor;
}

Channel send_channel(int stage, int next, int stages, bool forward) {
  const bool around = next == (stage + 1) % stages;
  if (forward) return around ? Channel::send_forward : Channel::send_forward_up;
  return around ? Channel::send_backward : Channel::send_backward_up;
}

Channel receiver_of(Channel send) { return transfer_channel(transfer_index(send) + 1); }

void add_groups(Plan& plan, const Scenario& scenario) { GroupMaker(plan, scenario).add_all(); }

}  // namespace stepsim
