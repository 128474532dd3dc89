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

#include "sim/core/objection.hpp"
#include "sim/core/quantity.hpp"
#include "sim/scenario/scenario.hpp"

namespace stepsim {

using LinkId = std::uint32_t;

/// A place where a transfer enters or leaves the fabric.
struct Port {
  int node = 0;
  int nic = 0;
};

/// A topology laid out for one cluster. Links count from 0 and have one direction each.
struct Wiring {
  std::vector<BytesPerSecond> capacities;  ///< payload of each link
  /// What users call the link: "leaf 3 up".
  std::function<std::string(LinkId)> name_of = nullptr;
  /// What it leads from and to: "leaf 3", "spine".
  std::function<std::pair<std::string, std::string>(LinkId)> ends_of = nullptr;
  /// What the port's cable is plugged into: "leaf 3"; or what links call the port: "node 3".
  std::function<std::string(Port)> switch_of = nullptr;
  /// Appends the links from one port to another of another node, in order.
  std::function<void(Port from, Port to, std::vector<LinkId>& route)> route = nullptr;
  /// Numbers of the regions that hold the node, from the smallest: of its leaf, of its pod. Regions
  /// are of neighbouring nodes, and what leaves one crosses the same links wherever in a larger one
  /// it goes; all nodes have as many. {}: no levels.
  std::function<std::vector<int>(int node)> regions = nullptr;
};

struct Topology {
  std::string_view name;
  std::string_view description;
  /// Which it reads of the keys in describe_topology (sim/scenario/describe/describe_cluster.hpp).
  std::vector<std::string> keys;
  /// What does not fit; nullptr: everything does. Called with clusters whose keys are sound.
  std::vector<Objection> (*objections)(const Cluster& cluster) = nullptr;
  /// REQUIRES: no objections.
  Wiring (*lay_out)(const Cluster& cluster);
};

/// Payload of one NIC.
inline BytesPerSecond nic_payload(const Fabric& fabric) {
  return fabric.bandwidth * fabric.efficiency;
}

}  // namespace stepsim
