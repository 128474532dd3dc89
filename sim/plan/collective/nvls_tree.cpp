// NVLS inside nodes, a double binary tree between them.
//
// NVIDIA/nccl src/device/all_reduce.h (NVLS_TREE): NVSwitch reduces S to one GPU for each NIC,
// those GPUs climb the trees, and NVSwitch multicasts the result: S (1 + 1/k) out of and into each
// of k GPUs of a node; between nodes as in tree.cpp.
#include "sim/core/registry.hpp"
#include "sim/plan/collective.hpp"

namespace stepsim {
namespace {

Phases nvls_tree_phases(const CollectiveJob& job) {
  const GroupShape& group = job.group;
  Load load;
  load.steps_between = 2 * levels(group.nodes);
  load.steps_inside = 2;
  load.inside = job.request.bytes * (1 + 1.0 / group.ranks_per_node());
  load.between = job.request.bytes * (group.nodes == 2 ? 1 : 2) / group.nics;
  return one_phase(job, load);
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
