// Pairwise: every rank sends to its partners directly, all messages at the same time.
//
// An all-to-all has 1/n of a rank's buffer for each other rank (NVIDIA/nccl: grouped sends and
// receives), so that a NIC carries what its node's ranks have for each other node; inside nodes the
// rest is an all-to-all of k ranks. In a shift each rank passes its buffer to the next one.
#include <algorithm>

#include "sim/core/registry.hpp"
#include "sim/plan/collective.hpp"
#include "sim/plan/collective/pairs.hpp"
#include "sim/plan/nccl/channels.hpp"

namespace stepsim {
Phase pairs_inside(const CollectiveJob& job, Bytes bytes) {
  const int members = job.group.ranks_per_node();
  const LinkProfile& link = job.cluster.intra_node;
  if (members == 1) return {};
  const Bytes carried = bytes * bus_factor(CollectiveOp::all_to_all, members);
  Phase phase{.latency = link.latency, .flows = {}};
  BytesPerSecond rate = node_rate(job.cluster);
  if (const auto speed = pairwise_speed(bytes, job.protocol, members, link)) {
    phase.latency = speed->latency;
    if (bytes > Bytes{0}) rate = std::min(rate, carried / (bytes / speed->bandwidth));
  }
  if (bytes > Bytes{0}) phase.flows.push_back({Pattern::pairs_inside, carried, rate});
  return phase;
}

PhaseFlow pairs_between(const CollectiveJob& job) {
  const GroupShape& group = job.group;
  const double remote = (group.nodes - 1.0) / group.nodes;
  return {Pattern::pairs_between,
          job.request.bytes * (remote * group.ranks_per_node() / group.nics),
          nic_rate(job.cluster)};
}

Seconds latency_between(const CollectiveJob& job, int peers) {
  const Fabric& fabric = *job.cluster.inter_node;
  // What Simple sends is flushed to the GPU when it arrived, as in rings and trees
  // (sim/plan/group/collective_speed.hpp): what a hop takes beyond InfiniBand's is there twice.
  // Where links are stated and not measured, the fabric's latency is all of it.
  const bool is_flushed = job.protocol == Protocol::simple && is_measured(job.cluster.intra_node);
  const Seconds flush =
      is_flushed ? std::max(Seconds{}, fabric.latency - nccl::kSimpleHop) : Seconds{};
  return fabric.latency + flush + fabric.peer_latency * peers;
}

int pair_channels(const CollectiveJob& job) {
  return nccl::pair_channels(communicator_of(job.group, job.cluster, job.version), job.request.op);
}

namespace {

Phases all_to_all(const CollectiveJob& job) {
  Phase phase = pairs_inside(job, job.request.bytes / job.group.nodes);
  if (job.group.nodes == 1) return {phase};
  // The parts inside and between nodes start together, and the latencies inside pass meanwhile.
  const int peers = job.group.ranks - job.group.ranks_per_node();
  phase.latency = std::max(latency_between(job, peers), phase.latency);
  phase.flows.push_back(pairs_between(job));
  return {phase};
}

Phases shift(const CollectiveJob& job) {
  const bool inside = job.group.nodes == 1;
  const Cluster& cluster = job.cluster;
  return {Phase{.latency = inside ? cluster.intra_node.latency : cluster.inter_node->latency,
                .flows = {{Pattern::neighbours, job.request.bytes,
                           inside ? node_rate(cluster) : nic_rate(cluster)}}}};
}

const Registered<CollectiveAlgorithm> pairwise{{
    .name = "pairwise",
    .description = "direct messages between pairs of ranks: all-to-all and shifts along a ring",
    .nccl = {},
    .makes = [](CollectiveOp op) { return !is_reduction_or_gather(op); },
    .phases =
        [](const CollectiveJob& job) {
          return job.request.op == CollectiveOp::shift ? shift(job) : all_to_all(job);
        },
    .channels = pair_channels,
}};

}  // namespace
}  // namespace stepsim
