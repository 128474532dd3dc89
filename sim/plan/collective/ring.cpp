// Ring: each rank passes 1/n of the message to its neighbour, over all NICs of the nodes at once.
//
// Steps and volumes: Thakur, Rabenseifner, Gropp 2005, section 4. An all-reduce goes around twice;
// a broadcast or a reduction is a chain through which the whole message is pipelined.
//
// Between nodes the steps and the bytes pass at the same time. A rank sends its next chunk while the
// last one travels, so that a step takes as long as the link is busy, or as the chunk travels and
// half of it is stored (a chunk has two slices), whichever is longer: max(c/B, a + c/2B) for chunks
// of c bytes a rank, and a + c/B for the last one, behind which nothing follows. What is stored is
// one chunk of NCCL's at most. Steps vary, and near the edge now one is longer, now the other: their
// third powers are summed. The power is that of five sizes of four DGX A100
// (calib/measured/node_all_reduces.csv, from 256 MiB on); 28 sizes on Slingshot, 16 to 1,024 GPUs,
// were not looked at for it (calib/measured/fabric_collectives.csv).
#include <algorithm>
#include <cmath>

#include "sim/core/registry.hpp"
#include "sim/plan/collective.hpp"
#include "sim/plan/nccl/channels.hpp"
#include "sim/plan/nccl/chunks.hpp"

namespace stepsim {
namespace {

/// The share of a rank's bytes that a step has to have stored before the next can begin.
double stored(const CollectiveJob& job) {
  const nccl::Communicator c = communicator_of(job.group, job.cluster, job.version);
  const int channels =
      nccl::channels(c, job.request.op, nccl::Algorithm::ring, job.protocol, job.request.bytes);
  const Bytes each = job.request.bytes / (channels * job.group.ranks);
  return 0.5 * std::min(1.0, nccl::ring_chunk(job.protocol) / each);
}

/// The latency that is left of so many steps when all but the last pass beside the bytes.
Seconds beside_bytes(Seconds latency, Seconds bytes, double stored, double steps) {
  const double travelling = (latency + bytes * stored) / bytes;
  const Seconds beside = bytes * (std::cbrt(1 + travelling * travelling * travelling) - 1);
  return beside * (1 - 1 / steps) + latency / steps;
}

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
  Phases phases = one_phase(job, load);
  const bool chunks_go_around =
      job.request.op == CollectiveOp::all_reduce || is_gather_or_scatter(job.request.op);
  const Seconds bytes = uncontended(phases) - phases.front().latency;
  if (job.speed && group.nodes > 1 && chunks_go_around && bytes > Seconds{})
    phases.front().latency =
        beside_bytes(phases.front().latency, bytes, stored(job), turns * (group.ranks - 1));
  return phases;
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
