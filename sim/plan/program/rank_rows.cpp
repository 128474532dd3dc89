// Tasks of one rank, and what waiting for them is called.
#include "sim/plan/program/rank_rows.hpp"

#include <algorithm>
#include <utility>

#include "sim/plan/group/members.hpp"
#include "sim/plan/pass/chains.hpp"
#include "sim/plan/pass/host_pace.hpp"
#include "sim/plan/program/launch_time.hpp"
#include "sim/plan/schedule.hpp"

namespace stepsim {
namespace {

constexpr std::uint16_t kNoRow = 0xffff;

/// The first kernel of the chain that is no launch: one that blocks comes before it.
const Kernel& first_work(const Chain& chain) {
  return chain.kernels[chain.kernels.front().is_launch() ? 1 : 0];
}

}  // namespace

RankRows::RankRows(PlanDraft& draft, const StageShape& shape)
    : draft_(draft),
      shape_(shape),
      writer_(shape.stage, draft.scenario.host.launch * cpu_slowdown(draft.scenario)),
      has_copies_(schedule_of(draft.scenario).needs.copies > 1) {
  host_ = writer_.add_row("host", RowKind::host);
  compute_ = writer_.add_row("compute", RowKind::compute);
  rows_.fill(kNoRow);
}

/// One part in so many of the launch queue runs empty before the host goes on, so that it does not
/// stop at each chain.
constexpr int kQueueSlack = 8;

void RankRows::wait_for_queue(int kernels) {
  const Host& host = draft_.scenario.host;
  if (!host.queue_depth || host.graph()) return;
  if (queued_ + kernels > *host.queue_depth && !queue_.empty()) {
    const int most = *host.queue_depth - *host.queue_depth / kQueueSlack;
    TaskIndex done = kNoTask;
    // Never for a long chain with little behind it: the GPU would run dry before more is launched.
    const int least = *host.queue_depth / 2;
    while (!queue_.empty() && queued_ + kernels > most &&
           queued_ - queue_.front().second >= least) {
      done = queue_.front().first;
      queued_ -= queue_.front().second;
      queue_.pop_front();
    }
    if (done != kNoTask) wait_on_host("launch queue is full", {done});
  }
}

void RankRows::write_chain(std::uint32_t index) {
  const Chain& chain = draft_.plan.chains[index];
  const auto kernels = static_cast<int>(chain.kernels.size());
  wait_for_queue(kernels);
  Task task;
  task.kind = TaskKind::chain;
  task.row = compute_;
  task.work = index;
  task.name = span_name(index);
  task.micro_batch = micro_batch_;
  task.cause = first_work(chain).cause;
  const TaskIndex launched = writer_.launch(task, waits_, 0, chain.launch);
  waits_.clear();
  if (chain.kernels.front().is_launch()) wait_on_host("blocking launch", {launched});
  if (!draft_.scenario.host.queue_depth) return;
  queue_.emplace_back(launched, kernels);
  queued_ += kernels;
}

void RankRows::write_kernels(std::vector<Kernel> kernels) {
  if (kernels.empty()) return;
  write_chain(add_launched_chain(draft_, std::move(kernels), shape_.slow.factor));
}

/// "qkv .. projection": a chain is called by its ends.
std::uint32_t RankRows::span_name(std::uint32_t index) {
  constexpr std::uint32_t kNone = 0xffffffff;
  std::vector<std::uint32_t>& known = draft_.span_names;
  known.resize(draft_.plan.chains.size(), kNone);
  if (known[index] == kNone) {
    const Chain& chain = draft_.plan.chains[index];
    const std::string first = draft_.plan.names[first_work(chain).name];
    const std::string last = draft_.plan.names[chain.kernels.back().name];
    known[index] = draft_.name(first == last ? first : first + " .. " + last);
  }
  return known[index];
}

std::uint16_t RankRows::row_of(Channel channel) {
  std::uint16_t& row = rows_[static_cast<std::size_t>(channel)];
  if (row == kNoRow)
    row = writer_.add_row(name_of(channel), RowKind::communication, counted_along(channel));
  return row;
}

Axis RankRows::counted_along(Channel channel) const {
  return axis_of(channel, draft_.scenario.parallelism.pipeline.stages);
}

TaskIndex RankRows::communicate(Channel channel, std::uint32_t operation,
                                const std::vector<TaskIndex>& after) {
  const bool between_stages = counted_along(channel) == Axis::pipeline;
  return communicate(channel, operation, after,
                     between_stages ? Cause::pipeline_bubble : Cause::sync_wait);
}

TaskIndex RankRows::communicate(Channel channel, std::uint32_t operation,
                                const std::vector<TaskIndex>& after, Cause wait_cause) {
  return communicate(channel, operation, after, wait_cause, exposed(counted_along(channel)));
}

TaskIndex RankRows::communicate(Channel channel, std::uint32_t operation,
                                const std::vector<TaskIndex>& after, Cause wait_cause,
                                Cause cause) {
  Task task;
  task.kind = TaskKind::communicate;
  task.channel = channel;
  task.row = row_of(channel);
  task.work = operation;
  task.name = draft_.plan.operations[operation].name;
  // Other holders of the parameters may need or reduce them with other micro-batches.
  task.micro_batch = has_copies_ && is_among_holders(channel) ? -1 : micro_batch_;
  task.cause = cause;
  task.wait_cause = wait_cause;
  const double call = host_published::collective.seconds() * published_scale(draft_.scenario);
  const TaskIndex launched =
      writer_.launch(task, after, launch_time(draft_.scenario).seconds() + call);
  // Two stages that each waited for what they send would wait for one another.
  if (draft_.scenario.host.blocking() && axis_of(channel) != Axis::pipeline)
    wait_on_host("blocking launch", {launched});
  return launched;
}

/// A thread of Horovod's looks for gradients that all ranks have, once in a cycle
/// (horovod/horovod horovod/common/operations.cc, RunLoopOnce): half of one passes on average.
std::vector<TaskIndex> RankRows::wait_for_cycle(std::vector<TaskIndex> after) {
  const auto& cycle = draft_.scenario.parallelism.data.cycle;
  if (!cycle) return after;
  if (cycle_ == 0) cycle_ = writer_.add_row("cycle", RowKind::copy);
  Task turn;
  turn.kind = TaskKind::timer;
  turn.row = cycle_;
  turn.name = draft_.name("wait for the cycle");
  turn.micro_batch = has_copies_ ? -1 : micro_batch_;
  turn.cause = turn.wait_cause = exposed(Axis::data);
  turn.amount = cycle->seconds() / 2;
  return {writer_.add(turn, after)};
}

TaskIndex RankRows::wait_on_host(const std::string& name, const std::vector<TaskIndex>& after) {
  if (std::ranges::find(after, computed()) != after.end()) {
    queue_.clear();
    queued_ = 0;
  }
  Task wait;
  wait.row = host_;
  wait.name = draft_.name(name);
  wait.micro_batch = micro_batch_;
  wait.cause = wait.wait_cause = Cause::launch_gap;
  return writer_.wait_on_host(wait, after);
}

void RankRows::write_on_host(const std::string& name, Seconds time, Cause cause) {
  Task work;
  work.kind = TaskKind::timer;
  work.row = host_;
  work.name = draft_.name(name);
  work.micro_batch = micro_batch_;
  work.cause = work.wait_cause = cause;
  work.amount = time.seconds();
  writer_.launch(work, {}, 0);
}

void RankRows::end_host_work(const std::string& name) {
  wait_on_host(name, {writer_.last_on(host_)});
}

void RankRows::work_on_host(const std::string& name, Seconds time, Cause cause) {
  write_on_host(name, time, cause);
  end_host_work("end of " + name);
}

TaskIndex RankRows::mark(const char* name, const std::vector<TaskIndex>& after) {
  Task point;
  point.kind = TaskKind::timer;
  point.row = compute_;
  point.name = draft_.name(name);
  point.micro_batch = micro_batch_;
  return writer_.add(point, after);
}

void RankRows::wait_for(TaskIndex task) {
  if (task == kNoTask) return;
  // Tasks of a row end in its order, so that its last one stands for all.
  const auto& tasks = writer_.program().tasks;
  for (TaskIndex& known : waits_) {
    if (tasks[known].row != tasks[task].row) continue;
    known = std::max(known, task);
    return;
  }
  waits_.push_back(task);
}

std::vector<TaskIndex> RankRows::take_waits() { return std::exchange(waits_, {}); }

std::vector<TaskIndex> RankRows::reached() const {
  std::vector<TaskIndex> tasks = waits_;
  tasks.push_back(computed());
  return tasks;
}

}  // namespace stepsim
