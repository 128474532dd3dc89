// How the NICs of all nodes are joined. A topology is a value; each has its own file in topology/.
//
// The links of the NICs themselves are the Network's; a topology adds what lies between them. Many
// cables that traffic is spread over evenly, such as the up-links of a leaf, are one link: a fluid
// model of adaptive routing.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/cluster/links.hpp"
#include "sim/core/objection.hpp"
#include "sim/core/quantity.hpp"
#include "sim/scenario/scenario.hpp"

namespace stepsim {

/// A place where a transfer enters or leaves the fabric: a NIC of a node.
struct Port {
  int node = 0;
  int nic = 0;
};

/// A topology laid out for one cluster. Links count from 0 and have one direction each.
struct Wiring {
  std::vector<BytesPerSecond> capacities;  ///< payload of each link
  /// The name that users call a link: "leaf 3 up".
  std::function<std::string(LinkId)> name_of = nullptr;
  /// What a link leads from and to: "leaf 3", "spine".
  std::function<std::pair<std::string, std::string>(LinkId)> ends_of = nullptr;
  /// What a port's cable is plugged into: "leaf 3"; or what links call the port: "node 3".
  std::function<std::string(Port)> switch_of = nullptr;
  /// Appends the links from one port to another node's port, in order.
  std::function<void(Port from, Port to, std::vector<LinkId>& route)> route = nullptr;
  /// The numbers of the regions that hold a node, from the smallest: the one of its leaf, the one
  /// of its pod. A region is of neighbouring nodes. What leaves it crosses the same links wherever
  /// in a larger region it goes. All nodes have equally many; {}: there are no levels.
  std::function<std::vector<int>(int node)> regions = nullptr;
  /// Nodes after which the fabric repeats: where runs of so many trade places, links do, too, and
  /// routes with them. 0: it does not.
  std::int64_t period = 0;
  /// The link in whose place one comes when nodes trade places: `moved` is the node to whose place
  /// a node comes. It moves runs of `period` nodes. Null: there are no links.
  std::function<LinkId(LinkId link, const std::function<int(int node)>& moved)> moved_link =
      nullptr;
};

struct Topology {
  std::string_view name;
  std::string_view description;
  /// The keys in describe_topology (sim/scenario/describe/describe_cluster.hpp) that it reads.
  std::vector<std::string> keys;
  /// What does not fit the cluster; nullptr: everything does. REQUIRES: keys that are sound.
  std::vector<Objection> (*objections)(const Cluster& cluster) = nullptr;
  /// Lays out the links for a cluster. REQUIRES: no objections.
  Wiring (*lay_out)(const Cluster& cluster);
};

/// The payload of one NIC.
inline BytesPerSecond nic_payload(const Fabric& fabric) {
  return fabric.bandwidth * fabric.efficiency;
}

}  // namespace stepsim
