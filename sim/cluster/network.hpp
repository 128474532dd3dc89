// The cluster's network as links and routes: links inside each node, NICs, the switch links that a
// topology adds, and links that others add, such as those of storage.
//
// A GPU reaches other nodes through NIC `gpu * nics / gpus_per_node` of its node. Nodes are alike:
// their links have the same numbers, one node after the other.
#pragma once

#include <string>
#include <vector>

#include "sim/cluster/blocks.hpp"
#include "sim/cluster/node_topology.hpp"
#include "sim/cluster/topology.hpp"
#include "sim/core/quantity.hpp"
#include "sim/scenario/scenario.hpp"

namespace stepsim {

class Network {
 public:
  /// Lays out the links of a cluster and keeps a pointer to it. Throws UserError when a topology is
  /// unknown or does not fit.
  explicit Network(const Cluster& cluster);

  const Links& links() const { return links_; }
  void set_bandwidth(LinkId link, BytesPerSecond bandwidth) { links_.change(link, {bandwidth}); }
  /// The name of a link, made when asked for: "node 3 nic 5 up".
  std::string name_of(LinkId link) const;
  /// What a link leads from and to: "node 3 nic 5", "leaf 1". One side of a NIC's link is what its
  /// cable is plugged into.
  std::pair<std::string, std::string> ends_of(LinkId link) const;

  /// The name of a port: "node 3 nic 5".
  static std::string name_of(Port port);
  /// The first link of a NIC. Links inside nodes come first, then those of NICs, of switches, and
  /// storage.
  LinkId first_nic() const { return nics_; }
  LinkId first_switch() const { return switches_; }
  /// The NIC that a NIC's link belongs to; `is_up` says whether the link leads out of it.
  Port port_at(LinkId link) const;
  bool is_up(LinkId link) const { return (link - nics_) % 2 == 0; }

  int node_of(int rank) const { return rank / cluster_->gpus_per_node; }
  Port port_of(int rank) const;
  /// The links from one rank to another: inside a node the node's own, else through their NICs.
  std::vector<LinkId> route(int from_rank, int to_rank) const;
  /// The links from one rank to another of the same node.
  std::vector<LinkId> inside(int from_rank, int to_rank) const;
  /// The links from NIC to NIC; empty inside a node.
  std::vector<LinkId> route(Port from, Port to) const;
  /// Appends the links from NIC to NIC to `route`.
  void add_route(Port from, Port to, std::vector<LinkId>& route) const;
  /// The links between a rank and its NIC, inside its node; empty where no other traffic can be on
  /// them.
  std::vector<LinkId> to_nic(int rank) const;
  std::vector<LinkId> from_nic(int rank) const;
  /// The rings over ranks of one node; their `gpus` are ranks. REQUIRES: at least two ranks.
  std::vector<Ring> rings(const std::vector<int>& ranks) const;
  /// The numbers of the fabric's regions that hold the node (Wiring::regions).
  std::vector<int> regions(int node) const;

  /// Nodes after which the network repeats (Wiring::period); 0: it does not.
  std::int64_t period() const { return cluster_->inter_node ? fabric_.period : 1; }
  /// The link that is to nodes of the first block what this one is to those of its own. REQUIRES:
  /// one block, or runs of whole periods and no link that was added.
  LinkId first_like(LinkId link, const Blocks& blocks) const;
  /// How many links that are first come before the one that is like this one. REQUIRES: the same,
  /// and a link of a node or a NIC.
  std::size_t place_of(LinkId link, const Blocks& blocks) const;
  /// All links that are first, in order; for one block all. REQUIRES: the same.
  std::vector<LinkId> first_links(const Blocks& blocks) const;

  /// The link by which the rank's NIC receives. REQUIRES: the cluster has NICs.
  LinkId nic_in(int rank) const { return nic(port_of(rank), false); }
  /// The link by which the rank's NIC sends. REQUIRES: the cluster has NICs.
  LinkId nic_out(int rank) const { return nic(port_of(rank), true); }
  /// A link that no route crosses, such as one of storage or of cores.
  struct Added {
    std::string name, from, to;
  };
  LinkId add(Added link, BytesPerSecond bandwidth);
  LinkId first_added() const { return static_cast<LinkId>(links_.size() - added_.size()); }

  const Cluster& cluster() const { return *cluster_; }

 private:
  void add_fabric(const Fabric& fabric);
  LinkId nic(Port port, bool up) const;
  /// The links of one node, as numbers of the links of `node`.
  std::vector<LinkId> of_node(int node, std::vector<LinkId> links) const;
  LinkId links_of_node() const { return static_cast<LinkId>(node_.capacities.size()); }

  const Cluster* cluster_;
  NodeWiring node_;
  Wiring fabric_;
  Links links_;
  LinkId nics_ = 0;  ///< where the links of NICs begin; `switches_` is where those of switches do
  LinkId switches_ = 0;
  std::vector<Added> added_;  ///< the last of the links
};

}  // namespace stepsim
