// Ring: each rank passes 1/n of the message to its neighbour, over all NICs of the nodes at once.
//
// Steps and volumes: Thakur, Rabenseifner, Gropp 2005, section 4. An all-reduce goes around twice;
// a broadcast or a reduction is a chain through which the whole message is pipelined.
#include "sim/core/registry.hpp"
#include "sim/plan/collective.hpp"

namespace stepsim {
namespace {

Phases ring_phases(const CollectiveJob& job) {
  const GroupShape& group = job.group;
  const double turns = job.request.op == CollectiveOp::all_reduce ? 2 : 1;
  const Bytes carried = job.request.bytes * bus_factor(job.request.op, group.ranks);
  Load load;
  load.steps_between = turns * (group.nodes - 1);
  load.steps_inside = turns * (group.ranks - group.nodes);
  // A ring leaves each node once, so that k - 1 in k of its steps stay inside a node of k ranks.
  load.inside = group.nodes == 1 ? carried : carried * (1 - 1.0 / group.ranks_per_node());
  if (group.nodes > 1) load.between = carried / group.nics;
  return one_phase(job, load);
}

const Registered<CollectiveAlgorithm> ring{{
    .name = "ring",
    .description = "pipelined ring over all ranks: least bytes, latency grows with the ranks",
    .nccl = nccl::Algorithm::ring,
    .makes = is_reduction_or_gather,
    .phases = ring_phases,
}};

}  // namespace
}  // namespace stepsim
