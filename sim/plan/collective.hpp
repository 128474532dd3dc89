// Collectives as values: what an algorithm costs on a group of ranks, as phases of latency and
// bytes.
//
// A phase first waits its latency. Then its flows run beside each other; the phase ends with the
// last of them. A flow says what each link of a pattern carries, and how fast it is when nobody
// else is on them; the links are the group's (sim/plan/group/group_streams.hpp), shared with
// everything else there.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/cluster/network.hpp"
#include "sim/ops/op_graph.hpp"
#include "sim/plan/group/collective_speed.hpp"
#include "sim/plan/group/group_shape.hpp"
#include "sim/plan/nccl/constants.hpp"

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
  Bytes bytes;          ///< what one member (inside, neighbours) or one NIC (between) sends
  BytesPerSecond rate;  ///< the most at which that member or NIC sends

  Seconds alone() const { return bytes / rate; }
};

struct Phase {
  Seconds latency;
  std::vector<PhaseFlow> flows;
};
using Phases = std::vector<Phase>;

struct CollectiveRequest {
  CollectiveOp op = CollectiveOp::all_reduce;
  Bytes bytes;  ///< nccl-tests size: message, output of a gather, input of a scatter
};

/// One collective on one group, as its algorithm sees it.
struct CollectiveJob {
  CollectiveRequest request;
  GroupShape group;
  const Cluster& cluster;
  NcclVersion version = NcclVersion::v2_30;
  Protocol protocol = Protocol::simple;
  std::optional<Speed> speed;  ///< measured or NCCL's; absent: links alone bound it
};

/// One algorithm.
struct CollectiveAlgorithm {
  std::string_view name;
  std::string_view description;
  std::optional<nccl::Algorithm> nccl;  ///< NCCL's name for it; absent: NCCL never chooses it
  /// Whether it makes such collectives at all.
  bool (*makes)(CollectiveOp op);
  /// Why it cannot serve the group, as the end of a sentence; empty: it can. Null: see `nccl`.
  std::string (*refusal)(const CollectiveJob& job) = nullptr;
  Phases (*phases)(const CollectiveJob& job);
  /// How many channels it runs on, each on one SM. Null: NCCL's, see `nccl`, or without that none.
  int (*channels)(const CollectiveJob& job) = nullptr;
};

// --- what algorithms are made of

/// What a pipelined algorithm puts on the links, and the steps of it that follow each other.
struct Load {
  double steps_inside = 0;   ///< messages between GPUs of a node, one after the other
  double steps_between = 0;  ///< messages between nodes
  Bytes inside;              ///< what each GPU's link carries in its busier direction
  Bytes between;             ///< what each NIC carries in its busier direction
};

/// One phase with the job's latency and rates. Without a speed of its own it is alpha-beta: the
/// steps at the links' latencies, the bytes at their rates; LL and LL128 put their flags on the
/// links, too.
Phases one_phase(const CollectiveJob& job, const Load& load);

/// All-reduce and its two halves, broadcast and reduce.
constexpr bool is_reduction_or_gather(CollectiveOp op) {
  return op != CollectiveOp::all_to_all && op != CollectiveOp::shift;
}
/// The halves.
constexpr bool is_gather_or_scatter(CollectiveOp op) {
  return op == CollectiveOp::all_gather || op == CollectiveOp::reduce_scatter;
}

/// The factor between message size over time and what each link carries (nccl-tests
/// doc/PERFORMANCE.md).
double bus_factor(CollectiveOp op, int ranks);

/// Levels of a tree over that many.
double levels(int count);

/// Payload of a NIC.
BytesPerSecond nic_rate(const Cluster& cluster);
/// Payload of a GPU's link inside its node.
BytesPerSecond node_rate(const Cluster& cluster);

/// Time of the phases when nobody else uses the links.
Seconds uncontended(const Phases& phases);

// --- the choice

/// Who does a collective.
struct Decision {
  const CollectiveAlgorithm* algorithm = nullptr;
  Protocol protocol = Protocol::simple;
  std::string refusal;  ///< why the stated algorithm cannot serve this group, so that NCCL chose
};

/// What the scenario says about that kind of collective.
const CollectiveChoice& choice_for(CollectiveOp op, const Collectives& collectives);

/// NCCL's choice, by its cost model (sim/plan/nccl/cost.hpp), unless the scenario states one. An
/// algorithm that the shape of this group rules out leaves it to NCCL. Throws UserError where the
/// stated one is unknown, or can never work: it does not make such collectives, or the GPUs or the
/// network lack what it needs.
Decision decide(const CollectiveRequest& request, const GroupShape& group, const Cluster& cluster,
                const Collectives& collectives);

/// The phases of that decision.
Phases phases_of(const Decision& decision, const CollectiveRequest& request,
                 const GroupShape& group, const Cluster& cluster, const Collectives& collectives);

/// Channels of NCCL on which it runs, each on one SM of every member.
int channels_of(const Decision& decision, const CollectiveRequest& request, const GroupShape& group,
                const Cluster& cluster, const Collectives& collectives);

/// Chooses an algorithm and makes its phases; no phases for a group of one.
Phases collective(const CollectiveRequest& request, const GroupShape& group, const Cluster& cluster,
                  const Collectives& collectives);

/// The collective among `ranks` GPUs of one node, as NCCL does it.
Phases inside_node(CollectiveOp op, Bytes bytes, int ranks, const CollectiveJob& job);
int channels_inside(CollectiveOp op, Bytes bytes, int ranks, const CollectiveJob& job);

}  // namespace stepsim
