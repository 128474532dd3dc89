// Writes checkpoints after steps as tasks.
#include "sim/plan/input/checkpoint.hpp"

#include "sim/plan/input/checkpoint_lanes.hpp"
#include "sim/plan/input/input_lanes.hpp"
#include "sim/plan/pass/operations.hpp"

namespace stepsim {
namespace {

constexpr Bytes kJoinBytes{8};  // a message "done" from everybody to everybody

bool is_first(const Plan& plan, int rank, Channel channel) {
  const int group = plan.groups_of(rank)[static_cast<std::size_t>(channel)];
  return group < 0 || plan.groups[static_cast<std::size_t>(group)].ranks.front() == rank;
}

}  // namespace

std::vector<bool> steps_that_save(const Scenario& s, const PlanOptions& options) {
  std::vector<bool> saves(static_cast<std::size_t>(s.run.warmup + s.run.steps), false);
  for (std::size_t step = 0; s.checkpoint && step < saves.size(); ++step) {
    const auto number = static_cast<std::int64_t>(step) + 1;
    saves[step] = options.checkpoint_after
                      ? *options.checkpoint_after == number - 1
                      : s.simulates_checkpoints() && number % s.checkpoint->every == 0;
  }
  return saves;
}

std::array<bool, 2> writes_of(const Plan& plan, const Scenario& s, int rank) {
  if (!s.checkpoint || s.checkpoint->sharded) return {};
  return {
      is_first(plan, rank, Channel::data) && is_first(plan, rank, Channel::data_across),
      is_first(plan, rank, Channel::expert_data) && is_first(plan, rank, Channel::expert_across)};
}

TaskIndex CheckpointRows::task(TaskKind kind, const char* name, std::uint16_t row, double amount,
                               const std::vector<TaskIndex>& after, bool launched) {
  Task task;
  task.kind = kind;
  task.row = row;
  task.name = rows_.draft().name(name);
  task.cause = task.wait_cause = Cause::checkpoint;
  task.amount = amount;
  task.work = read_work(launched ? Lane::device_to_host : Lane::checkpoint, 0);
  ProgramWriter& writer = rows_.writer();
  return launched ? writer.launch(task, after, writer.launch_seconds()) : writer.add(task, after);
}

/// Gathers the parameters and the state on the rank that writes, for a rank can write only what it
/// has.
std::vector<TaskIndex> CheckpointRows::gather(const std::vector<TaskIndex>& after) {
  PlanDraft& draft = rows_.draft();
  std::vector<TaskIndex> gathered = after;
  if (draft.scenario.checkpoint->sharded) return gathered;
  for (const ParameterGroup& group : parameter_groups(rows_.shape())) {
    const Bytes bytes =
        gathered_for_checkpoint(draft.scenario, draft.graph, rows_.shape().stage, group.expert);
    if (group.shape.ranks == 1 || bytes == Bytes{0}) continue;
    auto& operation = gathers_[group.expert ? 1 : 0];
    if (!operation) operation = add_collective(draft, CollectiveOp::all_gather, bytes, group.shape);
    gathered.push_back(
        rows_.communicate(group.gather, *operation, after, Cause::checkpoint, Cause::checkpoint));
  }
  return gathered;
}

TaskIndex CheckpointRows::copy(Bytes size, std::vector<TaskIndex> after) {
  const Scenario& s = rows_.draft().scenario;
  if (writing_row_ > 0) after.push_back(rows_.writer().last_on(writing_row_));
  const bool shares = shares_slot(rows_.draft().plan.network, s.cluster);
  const double amount = shares ? size.bytes() : (size / staging_rate(s)).seconds();
  return task(shares ? TaskKind::read : TaskKind::timer, "copy to host", row_, amount, after, true);
}

TaskIndex CheckpointRows::save(Bytes size, const std::vector<TaskIndex>& after) {
  const bool beside = rows_.draft().scenario.checkpoint->mode == CheckpointMode::async;
  if (beside && writing_row_ == 0)
    writing_row_ = rows_.writer().add_row("checkpoint write", RowKind::storage);
  return task(TaskKind::read, "write checkpoint", beside ? writing_row_ : row_, size.bytes(), after,
              false);
}

void CheckpointRows::join(Channel channel, std::optional<std::uint32_t>& operation) {
  const GroupShape& group = rows_.shape().of(channel);
  if (group.ranks == 1) return;
  if (!operation) {
    PlanDraft& draft = rows_.draft();
    operation = add_collective(draft, CollectiveOp::all_reduce, kJoinBytes, group);
    draft.plan.operations[*operation].name = draft.name("agree on checkpoint");
  }
  const std::vector<TaskIndex> before = rows_.take_waits();
  rows_.wait_for(
      rows_.communicate(channel, *operation, before, Cause::checkpoint, Cause::checkpoint));
}

void CheckpointRows::write() {
  const PlanDraft& draft = rows_.draft();
  const CheckpointPart part = checkpoint_part(draft.scenario, draft.graph, rows_.shape());
  ProgramWriter& writer = rows_.writer();
  if (row_ == 0) row_ = writer.add_row("checkpoint", RowKind::copy);
  // The host may be ahead of the GPU: what is saved has to be there.
  std::vector<TaskIndex> ready = gather({writer.program().step_ends.back()});
  if (part.staged > Bytes{0}) ready = {copy(part.staged, ready)};
  ready = {rows_.wait_on_host("wait for the copy", ready)};
  if (part.written > Bytes{0}) {
    const TaskIndex written = save(part.written, ready);
    if (draft.scenario.checkpoint->mode == CheckpointMode::sync) rows_.wait_for(written);
  }
  join(Channel::data, data_);
  join(Channel::data_across, across_);
  join(Channel::model, model_);
  writer.program().step_ends.back() = rows_.wait_on_host("end of checkpoint", rows_.take_waits());
}

}  // namespace stepsim
