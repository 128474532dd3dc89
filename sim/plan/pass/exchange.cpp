// What crosses which links in an exchange of tokens.
//
// DeepEP (deepseek-ai/DeepEP csrc/kernels/internode.cu): a token crosses to each node that has
// experts of it once, to the GPU in the sender's place there, which forwards it inside the node to
// the ranks that have them; both go on together. Rows come back the other way, summed inside nodes
// before they cross. HybridEP does the same with fewer SMs. So of S bytes that reach the r ranks of a token on n nodes, in a group of N
// nodes with k ranks and q NICs each,
//   a NIC carries S n / r (N-1)/N k/q, and a GPU's link S (k-1)/k.
// Over two nodes of H800 a GPU's link binds: 50 GB/s by these kernels' count of bytes, who show 43.
#include <algorithm>

#include "sim/ops/token_routes.hpp"
#include "sim/plan/group/resources.hpp"
#include "sim/plan/pass/operations.hpp"

namespace stepsim {
namespace {

// Shares of the payload that DeepEP's kernels fill (deepseek-ai/DeepEP docs/legacy.md and
// README.md, dispatch and combine of 4096 and 8192 tokens of 7168 numbers). Their figures include
// tokens that stay in their node, or on their GPU, which do not count here.

/// The share of a NIC: 58 and 57 GB/s over 4 nodes, 51 and 50 over 8, are 42.8 to 44.6 GB/s of 48.5
/// without tokens that stay in their node.
constexpr double kFilledBetween = 0.90;
/// The share of a GPU's link: 153 and 158 GB/s on eight H800, 726 and 740 on eight B200, are 134
/// and 138 GB/s of 160, 635 and 648 of 720 without tokens that stay on their GPU.
constexpr double kFilledInside = 0.87;

/// Bytes that an SM moves to and from GPUs of its node, those that stay on its own included
/// (NVIDIA-NeMo/Automodel@18007663a8 docs/deepep_vs_hybridep_benchmark.md, eight H100: DeepEP 168
/// and 151 GB/s by 8 SMs, 322 and 284 by 16; HybridEP 197 and 222 by 4, 360 and 344 by 8).
BytesPerSecond rate_of_sm(Dispatcher dispatcher) {
  return BytesPerSecond{dispatcher == Dispatcher::deepep ? 19.5e9 : 49e9};
}

Phase forwarded(const Scenario& scenario, Bytes bytes, const GroupShape& group) {
  const Cluster& cluster = scenario.cluster;
  const double members = group.ranks_per_node();
  Phase phase{.latency = cluster.intra_node.latency, .flows = {}};
  if (members > 1) {
    const Bytes inside = bytes * ((members - 1) / members);
    const ExpertParallel& expert = scenario.parallelism.expert;
    const BytesPerSecond of_sms =
        rate_of_sm(expert.dispatcher) * (*expert.exchange_sms()) * ((members - 1) / members);
    phase.flows.push_back(
        {Pattern::pairs_inside, inside, std::min(node_rate(cluster) * kFilledInside, of_sms)});
  }
  if (group.nodes == 1) return phase;
  phase.latency = std::max(phase.latency, cluster.inter_node->latency);
  const Experts& experts = *std::get<Transformer>(scenario.model.shape).experts;
  const double nodes = parts_reached(experts, group.nodes);
  const double ranks = parts_reached(experts, group.ranks);
  const double remote = nodes / ranks * (group.nodes - 1) / group.nodes;
  phase.flows.push_back({Pattern::pairs_between, bytes * (remote * members / group.nics),
                         nic_rate(cluster) * kFilledBetween});
  return phase;
}

std::uint32_t added(PlanDraft& draft, Bytes bytes, const GroupShape& group) {
  constexpr CollectiveOp op = CollectiveOp::all_to_all;
  const Scenario& scenario = draft.scenario;
  if (!sends_once(scenario.parallelism.expert.dispatcher))
    return add_collective(draft, op, bytes, group);
  Operation operation{.name = draft.name(name_of(op)), .phases = {}, .bytes = bytes};
  if (group.ranks > 1) operation.phases.push_back(forwarded(scenario, bytes, group));
  use_memory(operation, memory_traffic(op, bytes, group.ranks), scenario.cluster.gpu);
  draft.plan.operations.push_back(std::move(operation));
  return static_cast<std::uint32_t>(draft.plan.operations.size() - 1);
}

}  // namespace

std::uint32_t exchange(PlanDraft& draft, Bytes bytes, const GroupShape& group) {
  const auto [known, is_new] = draft.exchanges.try_emplace({bytes, group}, 0);
  if (!is_new) return known->second;
  known->second = added(draft, bytes, group);
  Operation& operation = draft.plan.operations[known->second];
  if (const auto sms = draft.scenario.parallelism.expert.exchange_sms()) {
    operation.held_sms = 0;
    operation.reserved_sms = share_of_sms(*sms, draft.scenario.cluster.gpu);
  }
  return known->second;
}

}  // namespace stepsim
