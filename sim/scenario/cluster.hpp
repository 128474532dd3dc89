// The cluster: nodes of GPUs, what joins the GPUs of a node, and what joins the nodes.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/core/quantity.hpp"
#include "sim/scenario/gpu.hpp"

namespace stepsim {

/// A cable of a graph that a scenario draws, or many cables: names may hold ranges ("node 0..15").
struct GraphLink {
  std::string from, to;
  BytesPerSecond bandwidth;            ///< from `from` to `to`
  std::optional<BytesPerSecond> back;  ///< from `to` to `from`; absent: as bandwidth
  bool operator==(const GraphLink&) const = default;
};

/// One size of nccl-tests and what it took.
struct MeasuredSize {
  Bytes bytes;
  Seconds time;
  bool operator==(const MeasuredSize&) const = default;
};

/// What a collective among so many GPUs on so many nodes was measured to take.
struct FabricCurve {
  CollectiveOp op = CollectiveOp::all_reduce;
  int nodes = 0;
  int ranks = 0;                    ///< of all nodes
  std::vector<MeasuredSize> sizes;  ///< in any order
  bool operator==(const FabricCurve&) const = default;
};

/// The network between nodes. A topology names in its `keys` what only some topologies read.
struct Fabric {
  std::string topology = "rail";  ///< a name of `stepsim list topologies`
  int nics_per_node = 0;          ///< default: one per GPU
  BytesPerSecond bandwidth;       ///< each NIC's, per direction
  double efficiency = 1;          ///< payload of a large transfer over bandwidth
  Seconds latency;                ///< between two nodes, per hop, software included
  /// What an all-to-all takes for each peer on another node, for a rank's proxy thread posts its
  /// messages one after another (NVIDIA/nccl src/proxy.cc, progressOps). Two to 32 nodes of H100 on EFA fit to a
  /// base, so much a peer and a share of the wire by nodes, within 5 % in the mean
  /// (calib/measured/all_to_alls.csv, of which the row on InfiniBand fits to nothing).
  Seconds peer_latency{2.9e-6};
  Seconds plugin_latency;             ///< of a hop, as NCCL's plugin reports it: for the choice
  bool sharp = false;                 ///< the switches reduce
  int nodes_per_leaf = 0;             ///< fat_tree: nodes below a leaf; rail: of a pod; 0: all
  std::optional<int> leaves_per_pod;  ///< fat_tree: a third level above so many leaves
  std::vector<double> oversubscription{1};  ///< bandwidth below over above, per level from below
  std::optional<int> nodes_per_router;      ///< dragonfly; absent: 1
  std::optional<int> routers_per_group;     ///< dragonfly
  std::optional<int> global_links;          ///< dragonfly: per router; absent: half the group
  std::vector<int> sizes;                   ///< torus: nodes along x, y, z
  std::optional<BytesPerSecond> link_bandwidth;    ///< dragonfly, torus; absent: as bandwidth
  std::optional<BytesPerSecond> global_bandwidth;  ///< dragonfly; absent: as link_bandwidth
  std::vector<std::string> switches;               ///< custom
  std::vector<GraphLink> links;                    ///< custom
  std::vector<FabricCurve> measured;               ///< of groups that lie as theirs did
  bool operator==(const Fabric&) const = default;
};

/// How the GPUs and NICs of one node are joined.
struct NodeLayout {
  std::string kind = "nvswitch";                 ///< a name of `stepsim list node-topologies`
  std::optional<int> gpus_per_switch;            ///< pcie; absent: 2
  std::optional<int> sockets;                    ///< pcie; absent: 2, where there are two switches
  std::optional<BytesPerSecond> pcie_bandwidth;  ///< a x16 slot's or up-link's
  std::optional<BytesPerSecond> socket_bandwidth;  ///< between two sockets
  std::vector<std::string> switches;               ///< custom
  std::vector<GraphLink> links;                    ///< custom
  bool operator==(const NodeLayout&) const = default;
};

/// What others send over links of the cluster all the time: another job on the same fabric, say.
struct BackgroundLoad {
  std::string links;    ///< a name of `stepsim show cluster`, or many: "leaf * up"
  BytesPerSecond rate;  ///< on each of them
  bool operator==(const BackgroundLoad&) const = default;
};

/// Nodes of equal GPUs. Bandwidths are per direction.
struct Cluster {
  std::string name;
  GpuProfile gpu;
  int nodes = 1;
  int gpus_per_node = 1;
  /// A core of the nodes' CPUs over the one that calls were measured on (calib/measured/host.csv);
  /// absent: not known.
  std::optional<double> cpu_speed;
  LinkProfile intra_node;
  NodeLayout node_topology;
  std::optional<Fabric> inter_node;  ///< may be absent on one node
  std::vector<BackgroundLoad> background;
  int gpus() const { return nodes * gpus_per_node; }
  bool operator==(const Cluster&) const = default;
};

}  // namespace stepsim
