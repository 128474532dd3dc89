// Writes the DataLoader as edges.
#include "sim/plan/input/input.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "sim/plan/input/input_lanes.hpp"

namespace stepsim {

InputRows::InputRows(PlanDraft& draft, ProgramWriter& writer, std::uint16_t host_row)
    : draft_(draft),
      writer_(writer),
      input_(*draft.scenario.data),
      epoch_batches_(static_cast<std::size_t>(steps_per_epoch(draft.scenario)) *
                     static_cast<std::size_t>(draft.scenario.micro_batches())),
      epoch_(input_.first_epoch),
      cost_(batch_cost(draft.scenario, epoch_)),
      host_row_(host_row) {
  copy_row_ = writer.add_row("copy", RowKind::copy);
  const int rows = std::max(input_.workers, 1);
  for (int i = 0; i < rows; ++i)
    loader_rows_.push_back(writer.add_row(fmt::format("loader {}", i), RowKind::loader));
  if (input_.pin_bandwidth && input_.workers > 0) pin_row_ = writer.add_row("pin", RowKind::copy);
  writer.program().readers = rows;
}

Task InputRows::wait_task(const char* name, int micro_batch) const {
  Task task;
  task.row = host_row_;
  task.micro_batch = micro_batch;
  task.name = draft_.name(name);
  task.cause = task.wait_cause = Cause::batch_wait;
  return task;
}

TaskIndex InputRows::read(Lane lane, double amount, const char* name,
                          const std::vector<TaskIndex>& after, Task task) {
  task.kind = TaskKind::read;
  task.name = draft_.name(name);
  task.amount = amount;
  const auto reader = static_cast<std::size_t>(task.row - loader_rows_.front());
  task.work = read_work(lane, reader);
  return writer_.add(task, after);
}

TaskIndex InputRows::timer(Seconds time, const char* name, const std::vector<TaskIndex>& after,
                           Task task) {
  task.kind = TaskKind::timer;
  task.name = draft_.name(name);
  task.amount = time.seconds();
  return writer_.add(task, after);
}

TaskIndex InputRows::load(std::vector<TaskIndex> after, int micro_batch) {
  Task task = wait_task("", micro_batch);
  task.row = loader_rows_[delivered_.size() % loader_rows_.size()];
  const bool starts = delivered_.size() < loader_rows_.size() && input_.workers > 0;
  const bool is_new = began_ == ProgramWriter::kNoTask || !input_.persistent_workers;
  if (starts && is_new && input_.worker_start > Seconds{0})
    after = {timer(input_.worker_start, "start of worker", after, task)};
  if (cost_.cached > Bytes{0})
    after = {read(Lane::page_cache, cost_.cached.bytes(), "read again", after, task)};
  if (moves_bytes(input_.storage) && cost_.stored > Bytes{0})
    after = {read(Lane::storage, cost_.stored.bytes(), "read", after, task)};
  const bool shares = shares_cores(draft_.scenario);
  const bool varies = input_.variation.has_value();
  if (!shares && !varies) return timer(cost_.waiting + cost_.cpu, "decode", after, task);
  if (cost_.waiting > Seconds{0}) after = {timer(cost_.waiting, "wait for storage", after, task)};
  task.varies = varies;
  if (!shares) return timer(cost_.cpu, "decode", after, task);
  return read(Lane::cores, cost_.cpu.seconds() * kCoreSecond, "decode", after, task);
}

TaskIndex InputRows::pin(TaskIndex loaded, int micro_batch) {
  if (!input_.pin_bandwidth) return loaded;
  const Seconds time = cost_.pinned / *input_.pin_bandwidth;
  Task task = wait_task("", micro_batch);
  task.row = input_.workers > 0 ? pin_row_ : loader_rows_.front();
  return timer(time, "pin", {loaded}, task);
}

void InputRows::begin_epoch(int micro_batch) {
  began_ = writer_.wait_on_host(wait_task("next epoch", micro_batch), {});
  delivered_.clear();
  cost_ = batch_cost(draft_.scenario, ++epoch_);
}

TaskIndex InputRows::asked_for(std::size_t batch) const {
  return batch < in_flight() ? began_ : delivered_[batch - in_flight()];
}

void InputRows::leave() {
  const std::size_t taken = delivered_.size();
  for (std::size_t ahead = 0; ahead < in_flight(); ++ahead) {
    const std::size_t batch = taken + ahead;
    if (epoch_batches_ > 0 && batch >= epoch_batches_) return;
    const TaskIndex before = asked_for(batch);
    delivered_.push_back(pin(load({before}, -1), -1));
  }
}

TaskIndex InputRows::fetch(int micro_batch) {
  if (epoch_batches_ > 0 && delivered_.size() == epoch_batches_) begin_epoch(micro_batch);
  const Task wait = wait_task("next batch", micro_batch);
  std::vector<TaskIndex> asked;
  if (input_.workers == 0) {
    asked = {writer_.wait_on_host(wait, {})};
  } else {
    asked = {asked_for(delivered_.size())};
  }
  const TaskIndex ready = pin(load(std::move(asked), micro_batch), micro_batch);
  delivered_.push_back(writer_.wait_on_host(wait, {ready}));
  return copy(micro_batch);
}

TaskIndex InputRows::copy(int micro_batch) {
  const bool shares = shares_slot(draft_.plan.network, draft_.scenario.cluster);
  Task task = wait_task("batch to GPU", micro_batch);
  task.kind = shares ? TaskKind::read : TaskKind::timer;
  task.row = copy_row_;
  task.cause = task.wait_cause = Cause::h2d;
  task.work = read_work(Lane::host_to_device, 0);
  task.amount =
      shares ? cost_.pinned.bytes() : (cost_.pinned / copy_rate(draft_.scenario)).seconds();
  const TaskIndex copied = writer_.launch(task, {}, writer_.launch_seconds());
  if (input_.pinned && input_.non_blocking) return copied;
  // A copy from pageable memory returns only when it is done.
  Task wait = wait_task(input_.pinned ? "blocking copy" : "pageable copy", micro_batch);
  wait.cause = wait.wait_cause = Cause::h2d;
  writer_.wait_on_host(wait, {copied});
  return copied;
}

}  // namespace stepsim
