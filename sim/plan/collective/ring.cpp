// Ring: each rank passes 1/n of the message to its neighbour, over all NICs of the nodes at once.
//
// Steps and volumes: Thakur, Rabenseifner, Gropp 2005; latency per hop as in NVIDIA/nccl
// src/graph/tuning.cc: hops between nodes cost the fabric's latency, the others the node link's.
#include "sim/core/registry.hpp"
#include "sim/plan/collective.hpp"

namespace stepsim {
namespace {

Phases ring_phases(const CollectiveRequest& request, const GroupShape& group,
                   const Cluster& cluster) {
  const double passes = request.op == CollectiveOp::all_reduce ? 2 : 1;
  const double hops_between = passes * (group.nodes - 1);
  const double hops_inside = passes * (group.ranks - group.nodes);
  const Bytes carried = request.bytes * bus_factor(request.op, group.ranks);
  Phase phase;
  phase.latency =
      cluster.inter_node->latency * hops_between + cluster.intra_node.latency * hops_inside;
  phase.flows.push_back({Pattern::between, carried / group.nics, nic_rate(cluster)});
  // Each ring leaves a node once: of its steps k - 1 in k stay inside.
  const double steps_inside = 1 - 1.0 / group.ranks_per_node();
  if (steps_inside > 0)
    phase.flows.push_back({Pattern::inside, carried * steps_inside, node_rate(cluster)});
  return {phase};
}

const Registered<CollectiveAlgorithm> ring{{
    .name = "ring",
    .description = "pipelined ring over all ranks: least bytes, latency grows with the ranks",
    .supports = [](const CollectiveRequest& request,
                   const GroupShape&) { return is_reduction_or_gather(request.op); },
    .phases = ring_phases,
}};

}  // namespace
}  // namespace stepsim
