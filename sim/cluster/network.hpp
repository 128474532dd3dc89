// The cluster's network as links and routes: the links of each GPU inside its node, NICs, the
// switch links that a topology adds, and storage.
//
// A GPU reaches other nodes through NIC `gpu * nics / gpus_per_node` of its node. Inside a node
// each GPU has one link out and one in, to a switch that never blocks (NVSwitch).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sim/core/quantity.hpp"
#include "sim/scenario/scenario.hpp"

namespace stepsim {

using LinkId = std::uint32_t;

/// One direction of something that transfers share.
struct Link {
  std::string name;          ///< "node 3 nic 5 up"
  BytesPerSecond bandwidth;  ///< payload that it carries
};

/// A place where a transfer enters or leaves the fabric.
struct Port {
  int node = 0;
  int nic = 0;
};

/// How the NICs of all nodes are joined. A topology is a value; each has its own file.
struct Topology {
  std::string_view name;
  std::string_view description;
  /// Switch links that transfers between nodes may share, beyond the NICs.
  std::vector<Link> (*links)(const Cluster& cluster);
  /// Appends the switch links from one port to another, as indices into links().
  void (*route)(const Cluster& cluster, Port from, Port to, std::vector<LinkId>& route);
};

class Network {
 public:
  /// Keeps a pointer to the cluster. Throws UserError when the topology's name is unknown.
  explicit Network(const Cluster& cluster);

  const std::vector<Link>& links() const { return links_; }
  void set_bandwidth(LinkId link, BytesPerSecond bandwidth) { links_[link].bandwidth = bandwidth; }
  int node_of(int rank) const { return rank / cluster_->gpus_per_node; }
  Port port_of(int rank) const;
  /// The links from one rank to another: inside a node its own, else from NIC to NIC.
  std::vector<LinkId> route(int from_rank, int to_rank) const;
  /// The same for two ranks of one node.
  std::vector<LinkId> inside(int from_rank, int to_rank) const;
  /// From NIC to NIC; empty inside a node.
  std::vector<LinkId> route(Port from, Port to) const;
  /// What the loaders of a node read from.
  LinkId storage(int node) const { return storage_ + static_cast<LinkId>(node); }
  bool has_storage() const { return stores_; }
  /// Adds one storage link a node of that bandwidth.
  void add_storage(BytesPerSecond bandwidth);

  const Cluster& cluster() const { return *cluster_; }

 private:
  LinkId nic(Port port, bool up) const;
  LinkId gpu(int rank, bool out) const;

  const Cluster* cluster_;
  const Topology* topology_ = nullptr;
  std::vector<Link> links_;
  LinkId nics_ = 0;
  LinkId switches_ = 0;
  LinkId storage_ = 0;
  bool stores_ = false;
};

}  // namespace stepsim
