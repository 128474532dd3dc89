// Hierarchical all-to-all: ranks of a node first hand each other what goes out by their NIC, then
// equal NICs exchange.
//
// The two stages of NVIDIA/nccl's PXN and of deepseek-ai/DeepEP's internode kernels: a rank sends
// one message to each node instead of one to each rank. Inside, all pairs of k ranks exchange the
// whole buffer, (k-1)/k S; between, a NIC carries what pairwise.cpp gives it, in fewer messages.
#include "sim/core/registry.hpp"
#include "sim/plan/collective/pairs.hpp"

namespace stepsim {
namespace {

const Registered<CollectiveAlgorithm> hierarchical_all_to_all{{
    .name = "hierarchical_all_to_all",
    .description = "all-to-all inside nodes first, then between equal ranks of all nodes",
    .nccl = {},
    .makes = [](CollectiveOp op) { return op == CollectiveOp::all_to_all; },
    .refusal = [](const CollectiveJob& job) -> std::string {
      if (job.group.nodes == 1) return "needs several nodes";
      return job.group.ranks_per_node() == 1 ? "needs several GPUs a node" : "";
    },
    .phases =
        [](const CollectiveJob& job) {
          return Phases{pairs_inside(job, job.request.bytes),
                        {latency_between(job, job.group.nodes - 1), {pairs_between(job)}}};
        },
    .channels = pair_channels,
}};

}  // namespace
}  // namespace stepsim
