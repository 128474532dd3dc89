// CollNet direct: GPUs hand their parts to those that own a NIC, and the switches between nodes
// reduce (SHARP).
//
// NVIDIA/nccl src/device/all_reduce.h (COLLNET_DIRECT). Inside a node of k GPUs an all-reduce
// scatters and gathers, 2 (k-1)/k S on each GPU's link; each of q NICs sends S/q up to the switches
// and receives as much. Gathers and scatters do half of the part inside, and (N-1)/N S/q of N nodes
// pass each NIC.
#include "sim/core/registry.hpp"
#include "sim/plan/collective.hpp"

namespace stepsim {
namespace {

Phases collnet_direct_phases(const CollectiveJob& job) {
  const GroupShape& group = job.group;
  const bool both = job.request.op == CollectiveOp::all_reduce;
  Load load;
  load.steps_inside = group.ranks_per_node() == 1 ? 0 : both ? 2 : 1;
  load.steps_between = 1;
  load.inside = job.request.bytes * bus_factor(job.request.op, group.ranks_per_node());
  load.between =
      job.request.bytes * (both ? 1 : bus_factor(job.request.op, group.nodes)) / group.nics;
  return one_phase(job, load);
}

const Registered<CollectiveAlgorithm> collnet_direct{{
    .name = "collnet_direct",
    .description = "switches between nodes reduce (SHARP); scatter and gather inside nodes",
    .nccl = nccl::Algorithm::collnet_direct,
    .makes =
        [](CollectiveOp op) { return op == CollectiveOp::all_reduce || is_gather_or_scatter(op); },
    .phases = collnet_direct_phases,
}};

}  // namespace
}  // namespace stepsim
