// Hierarchical: inside the node first, then each NIC's share between nodes, then inside the node
// again.
//
// All-reduce = reduce-scatter inside, ring all-reduce of S/k between nodes, all-gather inside (k
// ranks a node); gather and scatter have two of the three parts. Per-NIC volume: busbw (N-1)/(n-1)
// of a flat ring's. NCCL has no such algorithm; frameworks build it from two communicators.
#include <algorithm>

#include "sim/core/registry.hpp"
#include "sim/plan/collective.hpp"
#include "sim/plan/nccl/channels.hpp"

namespace stepsim {
namespace {

void append(Phases& phases, const Phases& more) {
  phases.insert(phases.end(), more.begin(), more.end());
}

Phases inside(CollectiveOp op, const CollectiveJob& job) {
  // The gather inside a node runs once for the share of every node.
  return inside_node(op, job.request.bytes, job.group.ranks_per_node(), job);
}

Phase between(const CollectiveJob& job) {
  const GroupShape& group = job.group;
  const double turns = job.request.op == CollectiveOp::all_reduce ? 2 : 1;
  const Bytes carried = job.request.bytes * bus_factor(job.request.op, group.nodes);
  return {.latency = job.cluster.inter_node->latency * (turns * (group.nodes - 1)),
          .flows = {{Pattern::between, carried / group.nics, nic_rate(job.cluster)}}};
}

Phases hierarchical_phases(const CollectiveJob& job) {
  Phases phases;
  if (job.request.op != CollectiveOp::all_gather)
    append(phases, inside(CollectiveOp::reduce_scatter, job));
  phases.push_back(between(job));
  if (job.request.op != CollectiveOp::reduce_scatter)
    append(phases, inside(CollectiveOp::all_gather, job));
  return phases;
}

/// The most channels of any part: the parts follow each other, and the one with most stands for
/// all.
int hierarchical_channels(const CollectiveJob& job) {
  const GroupShape& group = job.group;
  const auto part = job.request.op == CollectiveOp::all_gather ? CollectiveOp::all_gather
                                                               : CollectiveOp::reduce_scatter;
  const GroupShape across{group.nodes, group.nodes, 1};
  const int between =
      nccl::channels(communicator_of(across, job.cluster, job.version), part, nccl::Algorithm::ring,
                     Protocol::simple, job.request.bytes / group.ranks_per_node());
  return std::max(between, channels_inside(part, job.request.bytes, group.ranks_per_node(), job));
}

const Registered<CollectiveAlgorithm> hierarchical{{
    .name = "hierarchical",
    .description = "scatter inside the node, exchange between nodes, gather inside the node",
    .nccl = {},
    .makes =
        [](CollectiveOp op) { return op == CollectiveOp::all_reduce || is_gather_or_scatter(op); },
    .refusal = [](const CollectiveJob& job) -> std::string {
      if (job.group.nodes == 1) return "needs several nodes";
      return job.group.ranks_per_node() == 1 ? "needs several GPUs a node" : "";
    },
    .phases = hierarchical_phases,
    .channels = hierarchical_channels,
}};

}  // namespace
}  // namespace stepsim
