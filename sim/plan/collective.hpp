// Collectives as values: what an algorithm costs on a group of ranks, as phases of latency and
// bytes.
//
// A phase first waits its latency. Then its flows run beside each other; the phase ends with the
// last of them. A flow says what each link of a pattern carries, and how fast it is when nobody
// else is on them; the links are the group's (sim/plan/group_streams.hpp), shared with everything
// else there.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/cluster/network.hpp"
#include "sim/ops/op_graph.hpp"

namespace stepsim {

/// Which links of its group a flow uses.
enum class Pattern : std::uint8_t {
  inside,         ///< rings over the members of each node: from each to the next
  between,        ///< a ring over the nodes, on every NIC that the group uses
  pairs_inside,   ///< from each member to every other of its node
  pairs_between,  ///< on every NIC, from each node to every other
  neighbours,     ///< from each member to the next, over whatever lies between
  count_
};
inline constexpr std::size_t kPatterns = static_cast<std::size_t>(Pattern::count_);

struct PhaseFlow {
  Pattern pattern = Pattern::inside;
  Bytes bytes;          ///< that one member (inside, neighbours) or one NIC (between) sends
  BytesPerSecond rate;  ///< at most; of that member or NIC

  Seconds alone() const { return bytes / rate; }
};

struct Phase {
  Seconds latency;
  std::vector<PhaseFlow> flows;
};
using Phases = std::vector<Phase>;

/// How a group of ranks lies on the cluster.
struct GroupShape {
  int ranks = 1;
  int nodes = 1;
  int nics = 0;  ///< of a node that the group uses, each with a path to the next node or to all
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

/// A flow of that many bytes that takes so long alone, if it takes any time.
void add_flow(Phase& phase, Pattern pattern, Bytes bytes, Seconds alone);

/// A collective inside nodes as one phase: its time as inside_node has it, `bytes` on each link.
Phase phase_inside(CollectiveOp op, Bytes bytes, int ranks, const LinkProfile& link);

/// Payload of a NIC.
BytesPerSecond nic_rate(const Cluster& cluster);
/// Payload of a GPU's link inside its node.
BytesPerSecond node_rate(const Cluster& cluster);

/// Time of the phases when nobody else uses the links.
Seconds uncontended(const Phases& phases);

/// The phases of the named algorithm, or of the cheapest supported one when `algorithm` is "auto".
/// A named one that cannot do this (a tree that gathers, a hierarchy of one rank a node) gives way
/// to the ring. Throws UserError when the name is unknown.
Phases collective(const CollectiveRequest& request, const GroupShape& group, const Cluster& cluster,
                  const std::string& algorithm);

}  // namespace stepsim
