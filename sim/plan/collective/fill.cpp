// One turn of NVLS's chunks over the NICs of a node, once for each hop.
#include "sim/plan/collective/fill.hpp"

#include "sim/plan/nccl/chunks.hpp"

namespace stepsim {

Seconds fill_between(const CollectiveJob& job, nccl::Algorithm algorithm, double hops) {
  if (!job.speed || job.group.nodes == 1) return {};
  const nccl::Communicator c = communicator_of(job.group, job.cluster, job.version);
  const Bytes turn = nccl::nvls_turn(c, algorithm, job.request.bytes);
  return turn / job.group.nics / nic_rate(job.cluster) * hops;
}

}  // namespace stepsim
