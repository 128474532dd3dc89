// Pairwise: every rank sends to its partners directly, all messages at the same time.
//
// An all-to-all has 1/n of a rank's buffer for each other rank (NVIDIA/nccl: grouped sends and
// receives), so that a NIC carries what its node's ranks have for each other node; inside nodes the
// rest is an all-to-all of k ranks. In a shift each rank passes its buffer to the next one; one
// rank of each node sends to the next node.
#include "sim/core/registry.hpp"
#include "sim/plan/collective.hpp"

namespace stepsim {
namespace {

Phases all_to_all(const CollectiveRequest& request, const GroupShape& group,
                  const Cluster& cluster) {
  const Bytes for_one_node = request.bytes / group.nodes;
  Phase phase{.latency = cluster.inter_node->latency, .inside = {}, .route_bytes = {}};
  phase.inside = inside_node(CollectiveOp::all_to_all, for_one_node, group.ranks_per_node(),
                             cluster.intra_node);
  phase.route_bytes = for_one_node * group.ranks_per_node() / group.routes;
  phase.fan_out = group.nodes - 1;
  return {phase};
}

Phases shift(const CollectiveRequest& request, const GroupShape& group, const Cluster& cluster) {
  Phase phase{.latency = cluster.inter_node->latency, .inside = {}, .route_bytes = request.bytes};
  if (group.ranks_per_node() > 1) {
    phase.inside = request.bytes / (cluster.intra_node.bandwidth * cluster.intra_node.efficiency);
  }
  return {phase};
}

Phases pairwise_phases(const CollectiveRequest& request, const GroupShape& group,
                       const Cluster& cluster) {
  return request.op == CollectiveOp::shift ? shift(request, group, cluster)
                                           : all_to_all(request, group, cluster);
}

const Registered<CollectiveAlgorithm> pairwise{{
    .name = "pairwise",
    .description = "direct messages between pairs of ranks: all-to-all and shifts along a ring",
    .supports = [](const CollectiveRequest& request,
                   const GroupShape&) { return !is_reduction_or_gather(request.op); },
    .phases = pairwise_phases,
}};

}  // namespace
}  // namespace stepsim
