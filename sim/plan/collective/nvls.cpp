// NVLink SHARP: NVSwitch reduces what it reads from all GPUs and multicasts what one of them
// writes.
//
// NVIDIA/nccl src/device/all_reduce.h (NVLS). To reduce, the switch reads S from every GPU and
// hands S/n to each; to gather, each writes S/n and receives S. An all-reduce does both, S (1 +
// 1/n) out of and into every GPU. Between nodes switches that reduce (SHARP) take S/q from each of
// q NICs and return it.
#include "sim/core/registry.hpp"
#include "sim/plan/collective/fill.hpp"

namespace stepsim {
namespace {

Phases nvls_phases(const CollectiveJob& job) {
  const GroupShape& group = job.group;
  const Bytes bytes = job.request.bytes;
  const bool both = job.request.op == CollectiveOp::all_reduce;
  Load load;
  load.steps_inside = both ? 2 : 1;
  load.inside = both ? bytes * (1 + 1.0 / group.ranks_per_node()) : bytes;
  if (group.nodes > 1) {
    load.steps_between = 1;
    load.between = bytes * (both ? 1 : bus_factor(job.request.op, group.nodes)) / group.nics;
  }
  Phases phases = one_phase(job, load);
  // A message goes up to the switches, and what they made of it comes down.
  phases.front().latency += fill_between(job, nccl::Algorithm::nvls, both ? 2 : 1);
  return phases;
}

const Registered<CollectiveAlgorithm> nvls{{
    .name = "nvls",
    .description = "NVSwitch reduces and multicasts (NVLink SHARP); between nodes with SHARP",
    .nccl = nccl::Algorithm::nvls,
    .makes =
        [](CollectiveOp op) { return op == CollectiveOp::all_reduce || is_gather_or_scatter(op); },
    .phases = nvls_phases,
}};

}  // namespace
}  // namespace stepsim
