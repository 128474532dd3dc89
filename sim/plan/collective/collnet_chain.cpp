// CollNet chain: a chain inside each node, and the switches between nodes reduce (SHARP).
//
// NVIDIA/nccl src/device/all_reduce.h (COLLNET_CHAIN). The chain carries S up and S down, over
// channels with different heads 2 (k-1)/k S a link of k GPUs; each of q NICs sends S/q and receives
// as much.
#include "sim/core/registry.hpp"
#include "sim/plan/collective.hpp"

namespace stepsim {
namespace {

Phases collnet_chain_phases(const CollectiveJob& job) {
  const double members = job.group.ranks_per_node();
  Load load;
  load.steps_inside = 2 * (members - 1);
  load.steps_between = 1;
  load.inside = job.request.bytes * (2 * (members - 1) / members);
  load.between = job.request.bytes / job.group.nics;
  return one_phase(job, load);
}

const Registered<CollectiveAlgorithm> collnet_chain{{
    .name = "collnet_chain",
    .description = "switches between nodes reduce (SHARP); a chain inside each node",
    .nccl = nccl::Algorithm::collnet_chain,
    .makes = [](CollectiveOp op) { return op == CollectiveOp::all_reduce; },
    .phases = collnet_chain_phases,
}};

}  // namespace
}  // namespace stepsim
