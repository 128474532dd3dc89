// What crosses which links in an exchange of tokens.
//
// DeepEP (deepseek-ai/DeepEP csrc/kernels/internode.cu): a token crosses to each node that has
// experts of it once, to the GPU in the sender's place there, which forwards it inside the node to
// the ranks that have them; both go on together. Rows come back the other way, summed inside nodes
// before they cross. HybridEP does the same with fewer SMs. So of S bytes that reach the r ranks of
// a token on n nodes, in a group of N nodes with k ranks and q NICs each,
//   a NIC carries S n / r (N-1)/N k/q, and a GPU's link S (k-1)/k,
// behind what the kernels take however little they move.
#include <algorithm>
#include <cmath>

#include "sim/ops/token_routes.hpp"
#include "sim/plan/group/resources.hpp"
#include "sim/plan/pass/operations.hpp"

namespace stepsim {
namespace {

// Without a source of their own the figures below are of ai-dynamo/aiconfigurator@095f58a
// (wideep_deepep_normal of h100_sxm, sglang 0.5.6): DeepEP's kernels and what notifies of them, 128
// to 16,384 tokens of 7,168 numbers, dispatch in fp8 and combine in 16 bits, fitted to a base and a
// rate within 1.4 to 4 % in the mean. Passes have as many of either, so that a mean stands for both.

/// The share of a NIC: 46.6 and 45.7 GB/s over 4 nodes of 48.5. With the base below, DeepEP's own
/// figures for H800 (deepseek-ai/DeepEP docs/legacy.md: 58 and 57 GB/s over 4 nodes, 51 and 50 over
/// 8, tokens that stay in their node included) come out between 4 % too fast and 6 % too slow.
constexpr double kFilledBetween = 0.95;
/// The share of a GPU's link: 153 and 158 GB/s on eight H800, 726 and 740 on eight B200, are 134
/// and 138 GB/s of 160, 635 and 648 of 720 without tokens that stay on their GPU.
constexpr double kFilledInside = 0.87;

/// A node's ranks: 36 and 61 us on H100; 42 and 52 in the mean on GB200, GB300 and B300.
constexpr Seconds kBaseInside{48e-6};
/// DeepEP, for a doubling of nodes: 101 us over two nodes, 140 over four.
constexpr Seconds kBaseOfDoubling{46e-6};
/// HybridEP between nodes: over two, 4,096 tokens of 2,048 numbers by 24 SMs take 465 and 680 us,
/// of 7,168 by 8 SMs 1.37 and 1.54 ms (NVIDIA-NeMo/Automodel@18007663a8
/// docs/deepep_vs_hybridep_benchmark.md), 365 us and 1.28 ms of which the NICs do.
constexpr Seconds kHybridBetween{190e-6};

Seconds base(Dispatcher dispatcher, int nodes) {
  if (nodes == 1) return kBaseInside;
  if (dispatcher == Dispatcher::hybrid_ep) return kHybridBetween;
  return kBaseInside + kBaseOfDoubling * std::log2(nodes);
}

/// Bytes that an SM moves to and from GPUs of its node, those that stay on its own included. In one
/// node: NVIDIA-NeMo/Automodel@18007663a8 docs/deepep_vs_hybridep_benchmark.md, eight H100 (DeepEP
/// 168 and 151 GB/s by 8 SMs, 322 and 284 by 16; HybridEP 197 and 222 by 4, 360 and 344 by 8).
/// Over two nodes half of DeepEP's SMs forward (csrc/kernels/internode.cu): 12.1 and 9.6 GB/s.
BytesPerSecond rate_of_sm(Dispatcher dispatcher, int nodes) {
  if (dispatcher == Dispatcher::hybrid_ep) return BytesPerSecond{49e9};
  return BytesPerSecond{nodes == 1 ? 19.5e9 : 10.7e9};
}

Phase forwarded(const Scenario& scenario, Bytes bytes, const GroupShape& group) {
  const Cluster& cluster = scenario.cluster;
  const double members = group.ranks_per_node();
  const Dispatcher dispatcher = scenario.parallelism.expert.dispatcher;
  Phase phase{.latency = base(dispatcher, group.nodes), .flows = {}};
  if (members > 1) {
    const Bytes inside = bytes * ((members - 1) / members);
    const ExpertParallel& expert = scenario.parallelism.expert;
    const BytesPerSecond of_sms =
        rate_of_sm(dispatcher, group.nodes) * (*expert.exchange_sms()) * ((members - 1) / members);
    phase.flows.push_back(
        {Pattern::pairs_inside, inside, std::min(node_rate(cluster) * kFilledInside, of_sms)});
  }
  if (group.nodes == 1) return phase;
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
