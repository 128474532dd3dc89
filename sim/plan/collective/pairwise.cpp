// Pairwise: every rank sends to its partners directly, all messages at the same time.
//
// An all-to-all has 1/n of a rank's buffer for each other rank (NVIDIA/nccl: grouped sends and
// receives), so that a NIC carries what its node's ranks have for each other node; inside nodes the
// rest is an all-to-all of k ranks. In a shift each rank passes its buffer to the next one; one
// rank of each node sends to the next node.
#include <algorithm>

#include "sim/core/registry.hpp"
#include "sim/plan/collective.hpp"

namespace stepsim {
namespace {

Phases all_to_all(const CollectiveRequest& request, const GroupShape& group,
                  const Cluster& cluster) {
  const Bytes for_one_node = request.bytes / group.nodes;
  const Phase inside = phase_inside(CollectiveOp::all_to_all, for_one_node, group.ranks_per_node(),
                                    cluster.intra_node);
  // Both start together; the latencies of the part inside pass beside those between nodes.
  Phase phase{.latency = std::max(cluster.inter_node->latency, inside.latency),
              .flows = inside.flows};
  const double remote = group.nodes - 1.0;
  phase.flows.push_back({Pattern::pairs_between,
                         for_one_node * (remote * group.ranks_per_node() / group.nics),
                         nic_rate(cluster)});
  return {phase};
}

Phases shift(const CollectiveRequest& request, const Cluster& cluster) {
  return {Phase{.latency = cluster.inter_node->latency,
                .flows = {{Pattern::neighbours, request.bytes, nic_rate(cluster)}}}};
}

Phases pairwise_phases(const CollectiveRequest& request, const GroupShape& group,
                       const Cluster& cluster) {
  return request.op == CollectiveOp::shift ? shift(request, cluster)
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
