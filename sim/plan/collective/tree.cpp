// Double binary tree: latency grows with the logarithm of the nodes; every NIC carries the message
// twice.
//
// Sanders, Speck, Träff 2009; in NCCL: all-reduce only, a chain inside each node, 0.92 of the
// ring's bandwidth (NVIDIA/nccl v2.30 src/graph/tuning.cc).
#include <cmath>

#include "sim/core/registry.hpp"
#include "sim/plan/collective.hpp"

namespace stepsim {
namespace {

constexpr double kBandwidthOfRing = 0.92;

Phases tree_phases(const CollectiveRequest& request, const GroupShape& group,
                   const Cluster& cluster) {
  const double levels = std::ceil(std::log2(static_cast<double>(group.nodes)));
  const Bytes carried = request.bytes * (2 / kBandwidthOfRing);
  Phase phase;
  phase.latency =
      2 * (cluster.inter_node->latency * levels +
           cluster.intra_node.latency * static_cast<double>(group.ranks_per_node() - 1));
  phase.flows.push_back({Pattern::between, carried / group.nics, nic_rate(cluster)});
  if (group.ranks_per_node() > 1)
    phase.flows.push_back({Pattern::inside, carried, node_rate(cluster)});
  return {phase};
}

const Registered<CollectiveAlgorithm> tree{{
    .name = "tree",
    .description = "double binary tree over nodes: all-reduce with logarithmic latency",
    .supports = [](const CollectiveRequest& request,
                   const GroupShape&) { return request.op == CollectiveOp::all_reduce; },
    .phases = tree_phases,
}};

}  // namespace
}  // namespace stepsim
