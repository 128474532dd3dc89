// PAT: gathers and scatters over trees of logarithmic depth, for one GPU a node.
//
// "Parallel aggregated trees", NVIDIA/nccl v2.23 src/device/all_gather.h: binomial trees shifted by
// one rank each, so that every rank sends and receives (n-1)/n S in all, in log2 n rounds as long
// as a round fits the buffers.
#include "sim/core/registry.hpp"
#include "sim/plan/collective.hpp"

namespace stepsim {
namespace {

Phases pat_phases(const CollectiveJob& job) {
  const GroupShape& group = job.group;
  Load load;
  load.steps_between = levels(group.ranks);
  load.between = job.request.bytes * bus_factor(job.request.op, group.ranks) / group.nics;
  return one_phase(job, load);
}

const Registered<CollectiveAlgorithm> pat{{
    .name = "pat",
    .description = "gathers and scatters in logarithmic rounds, one GPU a node",
    .nccl = nccl::Algorithm::pat,
    .makes = is_gather_or_scatter,
    .phases = pat_phases,
}};

}  // namespace
}  // namespace stepsim
