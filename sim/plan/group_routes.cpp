// Routes of collectives over the NICs of their members.
#include "sim/plan/group_routes.hpp"

#include <algorithm>

namespace stepsim {
namespace {

/// The nodes of a group, and on each the NICs that its members own.
struct Footprint {
  Footprint(const std::vector<int>& ranks, const Network& network) {
    for (const int rank : ranks) {
      const Port port = network.port_of(rank);
      if (nodes.empty() || nodes.back() != port.node) {
        nodes.push_back(port.node);
        nics.emplace_back();
      }
      auto& own = nics.back();
      if (std::find(own.begin(), own.end(), port.nic) == own.end()) own.push_back(port.nic);
    }
    shares = nics.front().size();
    for (const auto& own : nics) shares = std::min(shares, own.size());
  }
  std::vector<int> nodes;
  std::vector<std::vector<int>> nics;
  std::size_t shares = 0;  ///< NICs that every node has
};

void add_between_nodes(Group& group, const Network& network, const Footprint& on, Routes routes) {
  const std::size_t count = on.nodes.size();
  const std::size_t partners = routes == Routes::ring ? 1 : count - 1;
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t hop = 1; hop <= partners; ++hop) {
      const std::size_t to = (i + hop) % count;
      for (std::size_t k = 0; k < on.shares; ++k)
        group.routes.push_back(
            network.route(Port{on.nodes[i], on.nics[i][k]}, Port{on.nodes[to], on.nics[to][k]}));
    }
  }
}

void add_boundaries(Group& group, const Network& network) {
  group.shape.routes = 1;
  for (std::size_t i = 0; i < group.ranks.size(); ++i) {
    auto route = network.route(group.ranks[i], group.ranks[(i + 1) % group.ranks.size()]);
    if (!route.empty()) group.routes.push_back(std::move(route));
  }
}

}  // namespace

void lay_out(Group& group, const Network& network, Routes routes) {
  const Footprint on(group.ranks, network);
  group.shape = {static_cast<int>(group.ranks.size()), static_cast<int>(on.nodes.size()),
                 static_cast<int>(on.shares)};
  if (on.nodes.size() < 2 || routes == Routes::none) return;
  if (routes == Routes::one_ring) return add_boundaries(group, network);
  add_between_nodes(group, network, on, routes);
}

}  // namespace stepsim
