// Double binary tree over the nodes, a chain inside each: latency grows with the logarithm of the
// nodes.
//
// Sanders, Speck, Träff 2009; in NCCL for all-reduces. Each of two trees takes half of the message
// up and down, and a node is a leaf of one and inside the other: S/2 up and S/2 to each of two
// children there, S/2 up here, 2 S out of the node in all. With two nodes each is the root of one
// tree and the leaf of the other, S in all. In a chain of k GPUs k-1 links carry S up and S down;
// the channels have different heads, so that a link's share is 2 (k-1)/k S.
#include "sim/core/registry.hpp"
#include "sim/plan/collective.hpp"

namespace stepsim {
namespace {

Phases tree_phases(const CollectiveJob& job) {
  const GroupShape& group = job.group;
  const double members = group.ranks_per_node();
  Load load;
  load.steps_between = 2 * levels(group.nodes);
  load.steps_inside = 2 * (members - 1);
  load.inside = job.request.bytes * (2 * (members - 1) / members);
  if (group.nodes > 1) load.between = job.request.bytes * (group.nodes == 2 ? 1 : 2) / group.nics;
  return one_phase(job, load);
}

const Registered<CollectiveAlgorithm> tree{{
    .name = "tree",
    .description = "double binary tree over nodes: all-reduce with logarithmic latency",
    .nccl = nccl::Algorithm::tree,
    .makes = [](CollectiveOp op) { return op == CollectiveOp::all_reduce; },
    .phases = tree_phases,
}};

}  // namespace
}  // namespace stepsim
