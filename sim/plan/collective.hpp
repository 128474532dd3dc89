// Collectives as values: what an algorithm costs on a group of ranks, as phases of latency and
// bytes.
//
// A phase first waits its latency. Then a timer (the part inside nodes, which shares nothing) and
// one transfer on each of the group's routes between nodes run beside each other; the phase ends
// with the last of them. The transfers contend with everything else on their links.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/cluster/network.hpp"
#include "sim/ops/op_graph.hpp"

namespace stepsim {

struct Phase {
  Seconds latency;
  Seconds inside;     ///< time of the part inside nodes
  Bytes route_bytes;  ///< carried by each route of the group
  int fan_out = 1;    ///< routes of the group that leave through one NIC
};
using Phases = std::vector<Phase>;

/// How a group of ranks lies on the cluster.
struct GroupShape {
  int ranks = 1;
  int nodes = 1;
  int routes =
      0;  ///< NICs of a node that the group uses, each with a route to the next node or to all
  int ranks_per_node() const { return (ranks + nodes - 1) / nodes; }
  auto operator<=>(const GroupShape&) const = default;
};

struct CollectiveRequest {
  CollectiveOp op = CollectiveOp::all_reduce;
  Bytes bytes;  ///< nccl-tests size: message, output of a gather, input of a scatter
};

/// All-reduce and its two halves, which algorithms of rings and trees make.
constexpr bool is_reduction_or_gather(CollectiveOp op) {
  return op != CollectiveOp::all_to_all && op != CollectiveOp::shift;
}

/// One algorithm. `phases` is only called where `supports` holds.
struct CollectiveAlgorithm {
  std::string_view name;
  std::string_view description;
  bool (*supports)(const CollectiveRequest& request, const GroupShape& group);
  Phases (*phases)(const CollectiveRequest& request, const GroupShape& group,
                   const Cluster& cluster);
};

/// Time of a collective among `ranks` GPUs of one node: the link's measured curve where it has one
/// (two regimes, interpolated in the number of ranks), alpha-beta ring otherwise:
/// all-reduce 2(n-1) steps of latency + S/n / rate, gather and scatter half of them
/// (Thakur, Rabenseifner, Gropp 2005, section 4); an all-to-all has its n-1 messages in flight at
/// the same time, a shift is one message.
Seconds inside_node(CollectiveOp op, Bytes bytes, int ranks, const LinkProfile& link);

/// The factor between message size over time and what each link carries (nccl-tests
/// doc/PERFORMANCE.md).
double bus_factor(CollectiveOp op, int ranks);

/// Time of the phases when nobody else uses the links.
Seconds uncontended(const Phases& phases, const Cluster& cluster);

/// The phases of the named algorithm, or of the cheapest supported one when `algorithm` is "auto".
/// A named one that cannot do this (a tree that gathers, a hierarchy of one rank a node) gives way
/// to the ring. Throws UserError when the name is unknown.
Phases collective(const CollectiveRequest& request, const GroupShape& group, const Cluster& cluster,
                  const std::string& algorithm);

}  // namespace stepsim
