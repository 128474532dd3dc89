// Tasks, edges and group operations in simulated time.
#include "sim/engine/executor.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include <fmt/format.h>

#include "sim/core/error.hpp"

namespace stepsim {
namespace {

/// A share in whole parts of 2^-40, so that sums of them are exact, in whatever order shares are
/// taken and given back.
double in_parts(double share) { return std::nearbyint(share * 0x1p40) * 0x1p-40; }

}  // namespace

Executor::Executor(const Plan& plan, const Folding& folding, const SimulateOptions& options)
    : plan_(plan),
      folding_(folding),
      options_(options),
      board_(make_board(plan.engine, folding, *this)),
      count_(tasks_of(plan, folding)) {
  for (const Operation& operation : plan.operations) {
    held_.push_back({.held_sms = in_parts(operation.held_sms),
                     .reserved_sms = in_parts(operation.reserved_sms)});
    moves_.push_back({.memory_share = in_parts(operation.memory_share),
                      .device_share = in_parts(operation.device_share)});
    all_.push_back(held_.back() + moves_.back());
  }
  for (const Chain& chain : plan.chains)
    chain_work_.push_back(std::accumulate(chain.mix.begin(), chain.mix.end(), 0.0));
  start_ranks();
  groups_.resize(folding.groups.size());
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    groups_[g].folded = &folding.groups[g];
    for (const auto& streams : folding.groups[g].streams) {
      groups_[g].shares |=
          std::ranges::any_of(streams, [](const FoldedStream& s) { return s.shares(); });
    }
  }
  step_ends_.assign(static_cast<std::size_t>(plan.steps), 0.0);
}

/// Unfolded runs record ranks of the classes of the folded plan, as the folded run does.
void Executor::record(const std::map<int, RecordedRank>& recorded) {
  for (RankState& state : ranks_) {
    if (recorded.contains(state.folded->rank)) {
      state.recorded = std::make_unique<Recording>(
          Recording{Recorder(plan_, *state.folded, options_.kernels),
                    std::vector<std::int32_t>(state.program->epochs, kNoSpan)});
    }
  }
}

Simulation Executor::run() {
  const bool is_apart = options_.spans && !options_.fold;
  const Folding apart = is_apart ? fold_plan(plan_, true) : Folding{};
  std::map<int, RecordedRank> recorded;
  const std::vector<FoldedRank>& classes = (is_apart ? apart : folding_).ranks;
  if (options_.spans) {
    recorded = recorded_ranks(plan_, classes, options_.shown, options_.most_spans);
    record(recorded);
  }

  for (std::uint32_t rank = 0; rank < ranks_.size(); ++rank) {
    for (TaskIndex task = 0; task < ranks_[rank].program->tasks.size(); ++task) {
      if (ranks_[rank].program->tasks[task].needs != 0) continue;
      board_->at(0, {EventKind::task_ready, rank, task});
    }
  }
  board_->run();
  for (const RankState& state : ranks_) {
    if (state.left > 0) throw SimulationError(describe_deadlock(*this));
  }

  Simulation result;
  result.timeline.names = plan_.names;
  for (const Chain& chain : plan_.chains) {
    result.timeline.mixes.push_back(chain.mix);
    result.timeline.outside.push_back(chain.outside);
  }
  for (RankState& state : ranks_) {
    if (state.recorded) result.timeline.ranks.push_back(state.recorded->recorder.take());
  }
  for (RankTimeline& rank : result.timeline.ranks) {
    rank.members = recorded.at(rank.rank).rank->members;
    rank.weight = recorded.at(rank.rank).weight;
  }
  if (options_.spans) result.timeline.paces = paces(classes);
  result.timeline.step_ends = step_ends_;
  result.timeline.warmup = plan_.warmup;
  result.stats = {folding_.ranks_total,
                  static_cast<std::int64_t>(ranks_.size()),
                  board_->events(),
                  kernels_,
                  board_->transfers(),
                  static_cast<std::int64_t>(recorded.size()),
                  options_.spans ? static_cast<std::int64_t>(classes.size() - recorded.size()) : 0};
  return result;
}

void Executor::happen(Event event, double date) {
  switch (event.kind) {
    case EventKind::task_ready:
      return ready(event.a, event.b, date, kNoSpan);
    case EventKind::task_arrives:
      return arrive(event.a, event.b, date);
    case EventKind::read_starts:
      return start_read(event.a, event.b, date);
    case EventKind::task_ends:
      return finish(event.a, event.b, date);
    case EventKind::chain_ends:
      if (ranks_[event.a].schedule == event.b) finish_chain(event.a, date);
      return;
    case EventKind::phase_starts:
      return run_phase(event.a, date);
    case EventKind::phase_part_ends:
      return phase_part_done(event.a, date);
    case EventKind::operation_ends:
      return end_operation(event.a, date);
    case EventKind::transfer_ends:
    case EventKind::traffic_starts:
      throw InternalError("an event of the board's own");
  }
}

void Executor::finish(std::uint32_t rank, TaskIndex task, double date) {
  RankState& state = ranks_[rank];
  const Program& program = *state.program;
  const Task& done = program.tasks[task];
  if (options_.spans && done.step >= plan_.warmup) note_pace(rank, task);
  std::int32_t span = kNoSpan;
  if (state.recorded) {
    span = state.recorded->recorder.finished(
        task, date, done.epoch == kNotLaunched ? 0 : launch_date(state, done));
    if (done.kind == TaskKind::host_wait) state.recorded->epoch_span[done.epoch + 1] = span;
  }
  count_.add_one();
  if (--state.left == 0 && --running_ == 0) board_->end_background();
  if (state.next_step_end < program.step_ends.size() &&
      program.step_ends[state.next_step_end] == task) {
    double& end = step_ends_[state.next_step_end++];
    end = std::max(end, date);
  }
  const std::uint32_t end = program.end_of_successors(task);
  for (std::uint32_t i = done.first_successor; i < end; ++i) {
    const TaskIndex next = program.successors[i];
    if (--needs(state, next) == 0) ready(rank, next, date, span);
  }
}

void Executor::note_pace(std::uint32_t rank, TaskIndex index) {
  RankState& state = ranks_[rank];
  const Task& task = state.program->tasks[index];
  if (task.step >= plan_.steps) return;
  if (task.kind == TaskKind::chain) {
    const double planned = plan_.chains[task.work].compute;
    const bool varies = plan_.kernel_draws && planned > 0 &&
                        plan_.kernel_draws->touched[static_cast<std::size_t>(state.folded->rank)];
    state.work += chain_work_[task.work] * (varies ? varied_[rank].compute / planned : 1);
  }
  if (task.kind == TaskKind::timer && task.cause == Cause::stall)
    state.stall += amount_of(rank, index);
}

std::vector<RankPace> Executor::paces(const std::vector<FoldedRank>& classes) const {
  std::vector<const RankState*> by_rank(plan_.program_of.size());
  for (const RankState& state : ranks_)
    by_rank[static_cast<std::size_t>(state.folded->rank)] = &state;
  std::vector<RankPace> paces;
  for (const FoldedRank& one : classes) {
    const RankState& state = *by_rank[static_cast<std::size_t>(one.rank)];
    paces.push_back({one.rank, state.program->stage, one.members, state.work, state.stall});
  }
  return paces;
}

double Executor::launch_date(const RankState& state, const Task& task) const {
  return state.epoch_start[task.epoch] + task.launch_offset;
}

/// Remembers when a recorded task arrived and started, and what it waited for last.
void Executor::note_start(std::uint32_t rank, TaskIndex task, double arrival, double start,
                          std::int32_t blocker) {
  RankState& state = ranks_[rank];
  if (!state.recorded) return;
  Started& begun = state.recorded->recorder.started(task);
  begun.arrival = arrival;
  begun.start = start;
  begun.blocker = blocker;
}

void Executor::ready(std::uint32_t rank, TaskIndex index, double date, std::int32_t blocker) {
  const Task& task = task_of(rank, index);
  const RankState& state = ranks_[rank];
  const double launched = task.epoch == kNotLaunched ? 0 : launch_date(state, task);
  // Where the launch comes last, the host's last wait is what held the task up.
  if (launched > date && state.recorded && task.kind != TaskKind::host_wait)
    blocker = state.recorded->epoch_span[task.epoch];
  const double arrival = std::max(date, launched);
  switch (task.kind) {
    case TaskKind::chain:
      return start_chain(rank, index, date, blocker);
    case TaskKind::communicate:
      note_start(rank, index, arrival, arrival, blocker);
      if (arrival > date) return board_->at(arrival, {EventKind::task_arrives, rank, index});
      return arrive(rank, index, date);
    case TaskKind::host_wait:
      note_start(rank, index, launched, launched, blocker);
      return wait_on_host(rank, index, arrival);
    case TaskKind::timer: {
      note_start(rank, index, arrival, arrival, blocker);
      return board_->at(arrival + amount_of(rank, index), {EventKind::task_ends, rank, index});
    }
    case TaskKind::read:
      note_start(rank, index, arrival, arrival, blocker);
      if (arrival > date) return board_->at(arrival, {EventKind::read_starts, rank, index});
      return start_read(rank, index, date);
  }
}

/// The task's chain as it runs this time.
const Chain& Executor::chain_of(std::uint32_t rank, TaskIndex index) {
  RankState& state = ranks_[rank];
  const Task& task = state.program->tasks[index];
  const Chain& chain = plan_.chains[task.work];
  const auto member = static_cast<std::size_t>(state.folded->rank);
  if (!plan_.kernel_draws || !plan_.kernel_draws->touched[member]) return chain;
  Chain& varied = varied_[rank];
  varied = chain;
  for (std::size_t i = 0; i < chain.kernels.size(); ++i) {
    const std::uint64_t call = static_cast<std::uint64_t>(index) << 32 | i;
    varied.kernels[i].seconds *= (*plan_.kernel_draws)(member, task.step, call);
  }
  contract(varied);
  if (state.recorded) state.recorded->recorder.started(index).varied = &varied;
  return varied;
}

void Executor::start_chain(std::uint32_t rank, TaskIndex index, double date, std::int32_t blocker) {
  const Task& task = task_of(rank, index);
  const Chain& chain = chain_of(rank, index);
  RankState& state = ranks_[rank];
  const double host = launch_date(state, task);
  note_start(rank, index, date, std::max(date, host + chain.first_launch()), blocker);
  kernels_ += static_cast<std::int64_t>(chain.kernels.size());
  state.running = index;
  state.has_end = false;
  running_chains_[rank] = ChainRun(chain, date, host, state.recorded && options_.kernels);
  unsettle(rank);
}

void Executor::unsettle(std::uint32_t rank) {
  if (ranks_[rank].is_unsettled) return;
  ranks_[rank].is_unsettled = true;
  unsettled_.push_back(rank);
}

/// What runs on compute rows goes on at another speed from here.
void Executor::settle(double date) {
  for (const std::uint32_t rank : unsettled_) {
    RankState& state = ranks_[rank];
    state.is_unsettled = false;
    const bool changes = state.taken != state.taken_now;
    if (state.running == kNoTask) {
      state.taken = state.taken_now;
      continue;
    }
    if (changes) running_chains_[rank].advance(date, state.taken);
    state.taken = state.taken_now;
    if (changes || !state.has_end) schedule_end(rank);
  }
  unsettled_.clear();
}

void Executor::schedule_end(std::uint32_t rank) {
  RankState& state = ranks_[rank];
  state.has_end = true;
  board_->at(running_chains_[rank].end(state.taken),
             {EventKind::chain_ends, rank, ++state.schedule});
}

void Executor::finish_chain(std::uint32_t rank, double date) {
  RankState& state = ranks_[rank];
  const TaskIndex index = state.running;
  state.running = kNoTask;
  ChainRun& chain = running_chains_[rank];
  if (state.recorded && (chain.touched() || !state.taken.nothing())) {
    chain.finish(date, state.taken);
    state.recorded->recorder.started(index).slowed = &chain;
  }
  finish(rank, index, date);
}

void Executor::take(std::uint32_t rank, const Taken& more, double sign) {
  if (more == Taken{}) return;
  ranks_[rank].taken_now = ranks_[rank].taken_now + sign * more;
  unsettle(rank);
}

/// The host has come to the wait, and all that it waits for is done: the next epoch starts.
void Executor::wait_on_host(std::uint32_t rank, TaskIndex index, double date) {
  ranks_[rank].epoch_start[task_of(rank, index).epoch + 1] = date;
  board_->at(date, {EventKind::task_ends, rank, index});
}

double Executor::amount_of(std::uint32_t rank, TaskIndex index) const {
  const Task& task = task_of(rank, index);
  if (!task.varies) return task.amount;
  return task.amount *
         (*plan_.sample_draws)(static_cast<std::size_t>(ranks_[rank].folded->rank), index);
}

void Executor::start_read(std::uint32_t rank, TaskIndex index, double date) {
  const Task& task = task_of(rank, index);
  const std::size_t lane = task.work % kLanes, reader = task.work / kLanes;
  const auto first = static_cast<std::size_t>(ranks_[rank].folded->lanes[lane]);
  const FoldedStream& stream = folding_.reads[first + reader];
  const BytesPerSecond rate = std::min(stream.alone, plan_.lane_rates[lane].value_or(stream.alone));
  board_->transfer(stream, amount_of(rank, index), rate.bytes_per_second(), date,
                   {EventKind::task_ends, rank, index});
}

void Executor::arrive(std::uint32_t rank, TaskIndex index, double date) {
  const auto channel = static_cast<std::size_t>(task_of(rank, index).channel);
  const auto group = static_cast<std::uint32_t>(ranks_[rank].folded->group_of[channel]);
  GroupState& state = groups_[group];
  state.arrived.push_back({rank, index});
  // From its launch on the kernel holds its SMs, also while it waits for the others.
  take(rank, held_[task_of(rank, index).work], 1);
  if (static_cast<int>(state.arrived.size()) == state.folded->members) start_operation(group, date);
}

void Executor::start_operation(std::uint32_t group, double date) {
  GroupState& state = groups_[group];
  const Task& first = task_of(state.arrived.front().rank, state.arrived.front().task);
  ++operations_;
  for (const Arrival& arrival : state.arrived) {
    const Task& task = task_of(arrival.rank, arrival.task);
    if (task.micro_batch != first.micro_batch || task.step != first.step) {
      throw SimulationError(
          fmt::format("{} of micro-batch {} on rank {} meets {} of micro-batch {} on rank {}: the "
                      "schedule's orders do not match",
                      plan_.names[first.name], first.micro_batch,
                      ranks_[state.arrived.front().rank].folded->rank, plan_.names[task.name],
                      task.micro_batch, ranks_[arrival.rank].folded->rank));
    }
    take(arrival.rank, moves_[task.work], 1);
    RankState& rank = ranks_[arrival.rank];
    if (!rank.recorded) continue;
    Started& begun = rank.recorded->recorder.started(arrival.task);
    begun.start = date;
    begun.operation = operations_;
  }
  state.phase = 0;
  state.running = true;
  const std::uint64_t call = state.started++;
  const auto& draws = plan_.collective_draws;
  const std::size_t member = state.folded->group;
  if (draws && draws->touched[member]) state.factor = (*draws)(member, first.step, call);
  start_phase(group, date);
}

/// Where nothing else may use the group's links its end is known from the start, whatever phases
/// there are: one event, not two a phase.
void Executor::start_phase(std::uint32_t group, double date) {
  GroupState& state = groups_[group];
  const Task& first = task_of(state.arrived.front().rank, state.arrived.front().task);
  const Phases& phases = plan_.operations[first.work].phases;
  if (state.phase == phases.size()) return end_operation(group, date);
  if (state.shares) {
    const double begin = date + phases[state.phase].latency.seconds() * state.factor;
    return board_->at(begin, {EventKind::phase_starts, group});
  }
  double end = date;
  for (; state.phase < phases.size(); ++state.phase) end = end_of(phases[state.phase], state, end);
  board_->at(end, {EventKind::operation_ends, group});
}

double Executor::end_of(const Phase& phase, const GroupState& state, double date) const {
  const double begin = date + phase.latency.seconds() * state.factor;
  double end = begin;
  for (const PhaseFlow& flow : phase.flows) {
    const auto& streams = state.folded->streams[static_cast<std::size_t>(flow.pattern)];
    if (streams.empty()) end = std::max(end, begin + flow.alone().seconds() * state.factor);
    for (const FoldedStream& stream : streams) {
      const double rate =
          std::min(flow.rate.bytes_per_second() * stream.share, stream.alone.bytes_per_second());
      end = std::max(end, begin + flow.bytes.bytes() * stream.share * state.factor / rate);
    }
  }
  return end;
}

void Executor::end_operation(std::uint32_t group, double date) {
  GroupState& state = groups_[group];
  std::vector<Arrival> members;
  members.swap(state.arrived);  // a member may arrive for the next operation at once
  state.running = false;
  for (const Arrival& member : members) {
    take(member.rank, all_[task_of(member.rank, member.task).work], -1);
  }
  for (const Arrival& member : members) finish(member.rank, member.task, date);
  if (!state.arrived.empty()) return;
  members.clear();
  state.arrived.swap(members);  // its memory serves the next operation
}

void Executor::run_phase(std::uint32_t group, double date) {
  GroupState& state = groups_[group];
  const Task& first = task_of(state.arrived.front().rank, state.arrived.front().task);
  const Phase& phase = plan_.operations[first.work].phases[state.phase];
  const Event part_ends{EventKind::phase_part_ends, group};
  state.pending = 1;  // the phase itself, until all have started
  for (const PhaseFlow& flow : phase.flows) {
    const auto& streams = state.folded->streams[static_cast<std::size_t>(flow.pattern)];
    if (streams.empty()) {  // a group that has no links takes its time all the same
      ++state.pending;
      board_->at(date + flow.alone().seconds() * state.factor, part_ends);
    }
    for (const FoldedStream& stream : streams) {
      ++state.pending;
      board_->transfer(stream, flow.bytes.bytes() * stream.share * state.factor,
                       flow.rate.bytes_per_second() * stream.share, date, part_ends);
    }
  }
  phase_part_done(group, date);
}

void Executor::phase_part_done(std::uint32_t group, double date) {
  GroupState& state = groups_[group];
  if (--state.pending > 0) return;
  ++state.phase;
  start_phase(group, date);
}

}  // namespace stepsim
