// NVLS inside nodes, a double binary tree between them.
//
// NVIDIA/nccl src/device/all_reduce.h (NVLS_TREE): NVSwitch reduces S to one GPU for each NIC,
// those GPUs climb the trees, and NVSwitch multicasts the result: S (1 + 1/k) out of and into each
// of k GPUs of a node; between nodes as in tree.cpp.
#include <algorithm>

#include "sim/core/registry.hpp"
#include "sim/plan/collective/fill.hpp"

namespace stepsim {
namespace {

/// A tree carries no more than NVSwitch reduces and multicasts in one of its nodes, as that was
/// measured with large messages.
CollectiveJob as_fast_as_a_node(CollectiveJob job) {
  constexpr Bytes kLarge{1e12};
  if (!job.speed || job.group.ranks_per_node() <= 2) return job;
  const auto node = speed_of(job.request.op, kLarge, nccl::Algorithm::nvls, Protocol::simple,
                             {job.group.ranks_per_node(), 1, 0}, job.cluster, job.version);
  if (node) job.speed->bandwidth = std::min(job.speed->bandwidth, node->bandwidth);
  return job;
}

Phases nvls_tree_phases(const CollectiveJob& stated) {
  const CollectiveJob job = as_fast_as_a_node(stated);
  const GroupShape& group = job.group;
  Load load;
  load.steps_between = 2 * levels(group.nodes);
  load.steps_inside = 2;
  load.inside = job.request.bytes * (1 + 1.0 / group.ranks_per_node());
  load.between = job.request.bytes * (group.nodes == 2 ? 1 : 2) / group.nics;
  Phases phases = one_phase(job, load);
  phases.front().latency += fill_between(job, nccl::Algorithm::nvls_tree, load.steps_between);
  return phases;
}

const Registered<CollectiveAlgorithm> nvls_tree{{
    .name = "nvls_tree",
    .description = "NVSwitch reduces and multicasts in each node, a double tree joins the nodes",
    .nccl = nccl::Algorithm::nvls_tree,
    .makes = [](CollectiveOp op) { return op == CollectiveOp::all_reduce; },
    .phases = nvls_tree_phases,
}};

}  // namespace
}  // namespace stepsim
