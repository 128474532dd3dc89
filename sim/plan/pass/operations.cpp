// Deciding how a collective runs, once for all that are alike.
#include "sim/plan/pass/operations.hpp"

#include <utility>

#include "sim/plan/collective.hpp"
#include "sim/plan/group/resources.hpp"

namespace stepsim {

std::uint32_t add_collective(PlanDraft& draft, CollectiveOp op, Bytes bytes,
                             const GroupShape& group) {
  Operation operation{.name = draft.name(name_of(op)), .phases = {}, .bytes = bytes};
  const Cluster& cluster = draft.scenario.cluster;
  const Collectives& collectives = draft.scenario.collectives;
  if (group.ranks > 1) {
    const CollectiveRequest request{op, bytes};
    const Decision decision = decide(request, group, cluster, collectives);
    operation.phases = phases_of(decision, request, group, cluster, collectives);
    operation.held_sms =
        share_of_sms(channels_of(decision, request, group, cluster, collectives), cluster.gpu);
  }
  use_memory(operation, memory_traffic(op, bytes, group.ranks), cluster.gpu);
  draft.plan.operations.push_back(std::move(operation));
  return static_cast<std::uint32_t>(draft.plan.operations.size() - 1);
}

std::uint32_t pass_collective(PlanDraft& draft, CollectiveOp op, Bytes bytes,
                              const GroupShape& group) {
  const auto [known, is_new] = draft.pass_operations.try_emplace({op, bytes, group}, 0);
  if (is_new) known->second = add_collective(draft, op, bytes, group);
  return known->second;
}

std::uint32_t copied_shift(PlanDraft& draft, Bytes bytes, const GroupShape& group) {
  const auto [known, is_new] = draft.copies.try_emplace({bytes, group}, 0);
  if (!is_new) return known->second;
  known->second = add_collective(draft, CollectiveOp::shift, bytes, group);
  draft.plan.operations[known->second].held_sms = 0;
  return known->second;
}

}  // namespace stepsim
