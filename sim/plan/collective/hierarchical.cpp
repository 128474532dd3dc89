// Hierarchical: inside the node first, then each NIC's share between nodes, then inside the node
// again.
//
// All-reduce = reduce-scatter inside, ring all-reduce of S/k between nodes, all-gather inside (k
// ranks a node); gather and scatter have two of the three parts. Per-NIC volume: busbw (N-1)/(n-1)
// of a flat ring's.
#include "sim/core/registry.hpp"
#include "sim/plan/collective.hpp"

namespace stepsim {
namespace {

Phase inside(CollectiveOp op, const CollectiveRequest& request, const GroupShape& group,
             const Cluster& cluster) {
  // A gather inside a node runs once for the share of every node.
  return phase_inside(op, request.bytes, group.ranks_per_node(), cluster.intra_node);
}

Phase between(const CollectiveRequest& request, const GroupShape& group, const Cluster& cluster) {
  const double passes = request.op == CollectiveOp::all_reduce ? 2 : 1;
  const Bytes carried = request.bytes * bus_factor(request.op, group.nodes);
  return {.latency = cluster.inter_node->latency * (passes * (group.nodes - 1)),
          .flows = {{Pattern::between, carried / group.nics, nic_rate(cluster)}}};
}

Phases hierarchical_phases(const CollectiveRequest& request, const GroupShape& group,
                           const Cluster& cluster) {
  Phases phases;
  if (request.op != CollectiveOp::all_gather) {
    phases.push_back(inside(CollectiveOp::reduce_scatter, request, group, cluster));
  }
  phases.push_back(between(request, group, cluster));
  if (request.op != CollectiveOp::reduce_scatter) {
    phases.push_back(inside(CollectiveOp::all_gather, request, group, cluster));
  }
  return phases;
}

const Registered<CollectiveAlgorithm> hierarchical{{
    .name = "hierarchical",
    .description = "scatter inside the node, exchange between nodes, gather inside the node",
    .supports =
        [](const CollectiveRequest& request, const GroupShape& group) {
          return is_reduction_or_gather(request.op) && group.ranks_per_node() > 1;
        },
    .phases = hierarchical_phases,
}};

}  // namespace
}  // namespace stepsim
