// Sends and receives of passes, and the gather of what came in parts.
#include "sim/plan/program/transfers.hpp"

#include "sim/plan/group/groups.hpp"

namespace stepsim {

Transfers::Transfers(RankRows& rows, const Placement& placement)
    : rows_(rows),
      placement_(placement),
      scenario_(rows.draft().scenario),
      pipeline_(scenario_.parallelism.pipeline),
      shape_(rows.shape()),
      gather_(rows, rows.draft().graph.boundary) {}

Bytes Transfers::message() const {
  const Parallelism& split = scenario_.parallelism;
  const bool shared = split.sequence || pipeline_.scatter_gather;
  return rows_.draft().graph.boundary / (shared ? split.tensor : 1);
}

std::uint32_t Transfers::operation(Channel channel) {
  const std::size_t direction = transfer_index(channel);
  auto& operation = operations_[direction];
  if (operation) return *operation;
  const Cluster& cluster = scenario_.cluster;
  const bool between = shape_.between_nodes[direction];
  Phase phase{.latency = between ? cluster.inter_node->latency : cluster.intra_node.latency,
              .flows = {}};
  if (message() > Bytes{0}) {
    phase.flows.push_back(
        {Pattern::neighbours, message(), between ? nic_rate(cluster) : node_rate(cluster)});
  }
  PlanDraft& draft = rows_.draft();
  draft.plan.operations.push_back(
      {.name = draft.name(name_of(channel)), .phases = {phase}, .bytes = message()});
  operation = static_cast<std::uint32_t>(draft.plan.operations.size() - 1);
  return *operation;
}

TaskIndex Transfers::send(const Action& action) {
  const auto to = placement_.receiver(action, shape_.stage);
  // A stage hands its own results on.
  if (!to || to->stage == shape_.stage) return RankRows::kNoTask;
  rows_.set_micro_batch(action.micro_batch);
  const Channel channel = action.pass == PassKind::forward
                              ? channel_between(shape_.stage, to->stage, true)
                              : channel_between(to->stage, shape_.stage, false);
  const TaskIndex sent = rows_.communicate(channel, operation(channel), {rows_.computed()});
  if (!pipeline_.overlap_p2p) rows_.wait_for(sent);
  return sent;
}

TaskIndex Transfers::receive(const Action& action) {
  const auto from = placement_.sender(action, shape_.stage);
  if (!from || from->stage == shape_.stage) return RankRows::kNoTask;
  rows_.set_micro_batch(action.micro_batch);
  const Channel channel = receiver_of(action.pass == PassKind::forward
                                          ? channel_between(from->stage, shape_.stage, true)
                                          : channel_between(shape_.stage, from->stage, false));
  return rows_.communicate(channel, operation(channel), {rows_.computed()});
}

void Transfers::synchronize(std::vector<TaskIndex> exchanged) {
  std::erase(exchanged, RankRows::kNoTask);
  if (!pipeline_.batch_p2p_sync || exchanged.empty()) return;
  exchanged.push_back(rows_.computed());
  std::erase(exchanged, RankRows::kNoTask);
  rows_.wait_on_host("wait for transfers", exchanged);
}

/// The sender's, between two stages of which the second holds the later part.
Channel Transfers::channel_between(int stage, int next, bool forward) const {
  return send_channel(stage, next, pipeline_.stages, forward);
}

TaskIndex Transfers::gathered(TaskIndex received, int micro_batch) {
  const Parallelism& split = scenario_.parallelism;
  const bool is_whole = split.tensor == 1 || split.sequence || !pipeline_.scatter_gather;
  if (received == RankRows::kNoTask || is_whole) return received;
  rows_.set_micro_batch(micro_batch);
  return gather_.after(received, Cause::sync_wait);
}

}  // namespace stepsim
