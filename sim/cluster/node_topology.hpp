// How the GPUs and NICs of one node are joined. A node topology is a value; each has its own file
// in node_topology/.
//
// All nodes are alike. GPUs and NICs have their numbers within the node.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/cluster/topology.hpp"

namespace stepsim {

/// One of the rings that a collective's bytes are split over: each GPU sends to the next.
struct Ring {
  double share = 1;  ///< share of the bytes; the shares of all rings sum to 1
  std::vector<int> gpus;
};

/// A node laid out. Links count from 0 and have one direction each.
struct NodeWiring {
  std::vector<BytesPerSecond> capacities;  ///< payload of each link
  /// The name that users call a link after "node 3": "gpu 5 out".
  std::function<std::string(LinkId)> name_of = nullptr;
  /// What a link leads from and to: "gpu 5", "switch 1".
  std::function<std::pair<std::string, std::string>(LinkId)> ends_of = nullptr;
  /// The links from one GPU to another, in order.
  std::function<std::vector<LinkId>(int from, int to)> between = nullptr;
  /// The links from a GPU to a NIC, and back; {}: nothing that is ever shared.
  std::function<std::vector<LinkId>(int gpu, int nic)> to_nic = nullptr, from_nic = nullptr;
  /// The rings over some GPUs. REQUIRES: at least two.
  std::function<std::vector<Ring>(const std::vector<int>& gpus)> rings = nullptr;
};

struct NodeTopology {
  std::string_view name;
  std::string_view description;
  bool nvlink = true;     ///< whether GPUs are joined by NVLink, as NCCL asks
  bool nvswitch = false;  ///< whether a switch joins them, which can reduce and multicast
  /// The keys of `node_topology` that it reads.
  std::vector<std::string> keys;
  /// What does not fit the cluster; nullptr: everything does. REQUIRES: keys that are sound.
  std::vector<Objection> (*objections)(const Cluster& cluster) = nullptr;
  /// Lays out a node. REQUIRES: no objections.
  NodeWiring (*lay_out)(const Cluster& cluster);
};

/// The payload of a GPU's link to the others of its node.
inline BytesPerSecond gpu_payload(const Cluster& cluster) {
  return cluster.intra_node.bandwidth * cluster.intra_node.efficiency;
}

/// The number of NICs of a node.
inline int nics_of(const Cluster& cluster) {
  return cluster.inter_node ? cluster.inter_node->nics_per_node : 0;
}

/// The NIC through which a GPU reaches other nodes: neighbours share one.
inline int nic_of(int gpu, const Cluster& cluster) {
  return gpu * nics_of(cluster) / cluster.gpus_per_node;
}

}  // namespace stepsim
