// Two-level fat tree: nodes below leaf switches, leaves below a non-blocking spine, up-links
// oversubscribed.
#include <fmt/format.h>

#include "sim/cluster/network.hpp"
#include "sim/core/registry.hpp"

namespace stepsim {
namespace {

int nodes_per_leaf(const Cluster& cluster) {
  const int stated = cluster.inter_node->nodes_per_leaf;
  return stated > 0 ? stated : cluster.nodes;
}

int leaf_of(const Cluster& cluster, int node) { return node / nodes_per_leaf(cluster); }

/// All up-links of a leaf as one link; a fluid model of adaptive routing over them.
std::vector<Link> leaf_links(const Cluster& cluster) {
  const Fabric& fabric = *cluster.inter_node;
  const double nics = static_cast<double>(nodes_per_leaf(cluster)) * fabric.nics_per_node;
  const BytesPerSecond capacity =
      fabric.bandwidth * (fabric.efficiency * nics / fabric.oversubscription);
  std::vector<Link> links;
  for (int leaf = 0; leaf <= leaf_of(cluster, cluster.nodes - 1); ++leaf) {
    links.push_back({fmt::format("leaf {} up", leaf), capacity});
    links.push_back({fmt::format("leaf {} down", leaf), capacity});
  }
  return links;
}

void leaf_route(const Cluster& cluster, Port from, Port to, std::vector<LinkId>& route) {
  const int source = leaf_of(cluster, from.node);
  const int target = leaf_of(cluster, to.node);
  if (source == target) return;
  route.push_back(static_cast<LinkId>(2 * source));
  route.push_back(static_cast<LinkId>(2 * target + 1));
}

const Registered<Topology> fat_tree{{
    .name = "fat_tree",
    .description =
        "leaf switches of nodes_per_leaf nodes below a spine, up-links oversubscribed by a factor",
    .links = leaf_links,
    .route = leaf_route,
}};

}  // namespace
}  // namespace stepsim
