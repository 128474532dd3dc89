// Turns slices into spans, and refuses what no simulation leaves behind.
#include "sim/recording/simulated/rebuilt_timeline.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "sim/core/source.hpp"
#include "sim/recording/simulated/simulated_head.hpp"
#include "sim/text/ranges.hpp"
#include "sim/timeline/words.hpp"

namespace stepsim {
namespace {

constexpr double kRounding = 1e-6;  // seconds: parts of a slice are rounded to ns, each by itself

constexpr std::int64_t kMostRows = std::numeric_limits<std::uint16_t>::max();
constexpr std::int64_t kMostMicroBatches = std::numeric_limits<std::int32_t>::max();
/// One more than rows, because threads are numbered from 1 on.
constexpr std::int64_t kMostThreads = kMostRows + 1;
constexpr std::int64_t kMostRanks = std::numeric_limits<std::int32_t>::max();
/// The longest time that is added to another one: a year, as steps may take.
constexpr Nanoseconds kLongest = 365LL * 24 * 3600 * 1'000'000'000;

bool is_time(const std::optional<Nanoseconds>& time) {
  return time && *time >= 0 && *time <= kLongest;
}

/// Whether blockers lead from a span back to itself.
bool goes_in_a_circle(const std::vector<Span>& spans) {
  enum : std::uint8_t { fresh, on_the_way, done };
  std::vector<std::uint8_t> state(spans.size(), fresh);
  for (std::size_t i = 0; i < spans.size(); ++i) {
    std::vector<std::size_t> way;
    auto at = static_cast<std::int32_t>(i);
    while (at != kNoSpan && state[static_cast<std::size_t>(at)] == fresh) {
      state[static_cast<std::size_t>(at)] = on_the_way;
      way.push_back(static_cast<std::size_t>(at));
      at = spans[static_cast<std::size_t>(at)].blocker;
    }
    if (at != kNoSpan && state[static_cast<std::size_t>(at)] == on_the_way) return true;
    for (const std::size_t passed : way) state[passed] = done;
  }
  return false;
}

}  // namespace

RebuiltTimeline::RebuiltTimeline(const SimulatedHead& head, std::string file)
    : head_(head), file_(std::move(file)) {
  for (std::size_t i = 0; i <= head.steps.last; ++i)
    timeline_.step_ends.push_back(seconds_of(head.step_ends[i]));
  const auto first = static_cast<int>(head.steps.first);
  const bool has_measured = head.warmup <= static_cast<int>(head.steps.last);
  timeline_.warmup = has_measured ? std::max(head.warmup, first) : first;
}

void RebuiltTimeline::add(const SimulatedEvent& event) {
  if (event.phase == 'M' && event.name == "process_name") return describe_process(event);
  if (event.phase == 'M' && event.name == "thread_name") return describe_thread(event);
  if (event.phase == 'X') return add_slice(event);
  if (event.phase == 'C') return add_memory(event);
}

/// The process of the steps is no rank.
void RebuiltTimeline::describe_process(const SimulatedEvent& event) {
  const SimulatedArguments& of = event.arguments;
  if (of.rank < 0) return;
  if (of.rank > kMostRanks || of.stage < 0 || of.stage > of.rank || of.multiplicity < 1 ||
      of.multiplicity > kMostRanks)
    damaged(fmt::format("process {} is no rank", event.process));
  auto members = numbers_of_ranges(of.members);
  if (!members) damaged(fmt::format("{} are no ranks", quoted(std::string(of.members))));
  if (!rank_of_process_.emplace(event.process, timeline_.ranks.size()).second)
    damaged(fmt::format("process {} is described twice", event.process));
  RankTimeline rank{.rank = static_cast<int>(of.rank),
                    .stage = static_cast<int>(of.stage),
                    .multiplicity = static_cast<int>(of.multiplicity),
                    .members = std::move(*members),
                    .weight = static_cast<double>(of.multiplicity)};
  timeline_.ranks.push_back(std::move(rank));
  states_.push_back({.row_of_thread = {}, .rows = {}, .slices = of.slices});
}

bool RebuiltTimeline::select(std::int64_t process) {
  if (process == process_) return true;
  const auto found = rank_of_process_.find(process);
  if (found == rank_of_process_.end()) return false;
  process_ = process;
  rank_ = found->second;
  return true;
}

void RebuiltTimeline::describe_thread(const SimulatedEvent& event) {
  const SimulatedArguments& of = event.arguments;
  if (!select(event.process)) return;
  const auto kind = row_kind_named(of.kind);
  if (!kind || of.row < 0 || of.row >= kMostRows || event.thread < 1 ||
      event.thread >= kMostThreads)
    damaged(fmt::format("thread {} of process {} is no row", event.thread, event.process));
  const auto row = static_cast<std::size_t>(of.row);
  RankState& state = states_[rank_];
  std::vector<Row>& rows = timeline_.ranks[rank_].rows;
  if (rows.size() <= row) rows.resize(row + 1);
  state.rows.resize(rows.size());
  rows[row] = {.name = std::string(of.name), .kind = *kind, .axis = axis_named(of.axis)};
  state.rows[row] = {.cause = cause(of.cause), .wait_cause = cause(of.wait)};
  const auto thread = static_cast<std::size_t>(event.thread);
  if (state.row_of_thread.size() <= thread) state.row_of_thread.resize(thread + 1, kMostRows);
  state.row_of_thread[thread] = static_cast<std::uint16_t>(row);
}

void RebuiltTimeline::add_slice(const SimulatedEvent& event) {
  if (!select(event.process)) {
    if (event.category == "step") return;
    damaged(fmt::format("a slice belongs to process {}, which is no rank", event.process));
  }
  RankState& state = states_[rank_];
  const auto thread = static_cast<std::size_t>(event.thread);
  const bool is_known = event.thread > 0 && thread < state.row_of_thread.size() &&
                        state.row_of_thread[thread] < state.rows.size();
  if (!is_known) damaged(fmt::format("a slice belongs to thread {}, which is no row", thread));
  const std::uint16_t row = state.row_of_thread[thread];
  RankTimeline& rank = timeline_.ranks[rank_];
  Span span = span_of(event, state, row);
  const std::size_t index = rank.spans.size();
  set_causes(event, state.rows[row], rank.rows[row].kind == RowKind::compute, span);
  set_blocker(event.arguments, state.rows[row], index, span);
  state.rows[row].last = static_cast<std::int32_t>(index);
  rank.spans.push_back(span);
}

Span RebuiltTimeline::span_of(const SimulatedEvent& event, RankState& state, std::uint16_t row) {
  const SimulatedArguments& of = event.arguments;
  const bool is_timed =
      is_time(event.start) && is_time(event.duration) && (!of.wait_time || is_time(of.wait_time));
  if (!is_timed) damaged("a slice has no time");
  const Nanoseconds end = *event.start + *event.duration;
  if (end < state.end || *event.start < state.rows[row].end)
    damaged("its slices are not in the order of their ends");
  state.end = state.rows[row].end = end;
  if (of.step < 0 || of.step >= static_cast<std::int64_t>(head_.step_ends.size()))
    damaged(fmt::format("a slice belongs to step {}, which there is not", of.step));
  if (of.micro_batch < -1 || of.micro_batch > kMostMicroBatches || of.message < 0 ||
      of.message > std::numeric_limits<std::uint32_t>::max())
    damaged("a slice has a micro-batch or a message that there is not");
  Span span{.arrival = seconds_of(*event.start - of.wait_time.value_or(0)),
            .start = seconds_of(*event.start),
            .end = seconds_of(end),
            .name = name(event.name),
            .micro_batch = static_cast<std::int32_t>(of.micro_batch),
            .message = static_cast<std::uint32_t>(of.message),
            .contention = of.contention_us * 1e-6,
            .bytes = of.bytes,
            .row = row,
            .step = static_cast<std::uint16_t>(of.step),
            .sends = of.sends};
  const double parts = std::accumulate(of.mix.begin(), of.mix.end(), 0.0);
  const double most = span.end - span.start + kRounding;
  if (!(parts <= most && span.contention >= 0 && span.contention <= most) ||
      std::ranges::any_of(of.mix, [](double part) { return part < 0; }))
    damaged("a slice is shorter than its parts");
  const std::int64_t operation = of.operation.value_or(of.message);
  if (operation != 0) {
    const auto next = static_cast<std::uint32_t>(operations_.size() + 1);
    span.operation = operations_.try_emplace(operation, next).first->second;
  }
  set_work(of, span);
  return span;
}

void RebuiltTimeline::set_work(const SimulatedArguments& arguments, Span& span) {
  if (!arguments.outside.empty()) span.outside = name(arguments.outside);
  if (!arguments.has_mix) return;
  span.mix = static_cast<std::int32_t>(timeline_.mixes.size());
  timeline_.mixes.push_back(arguments.mix);
  timeline_.outside.emplace_back();
  for (const auto& [side, seconds] : arguments.sides)
    timeline_.outside.back().push_back({name(side), seconds});
}

void RebuiltTimeline::set_causes(const SimulatedEvent& event, const RowState& state, bool computes,
                                 Span& span) {
  const SimulatedArguments& of = event.arguments;
  span.cause = computes ? cause(event.category) : of.cause.empty() ? state.cause : cause(of.cause);
  span.wait_cause = of.wait.empty() ? state.wait_cause : cause(of.wait);
}

void RebuiltTimeline::set_blocker(const SimulatedArguments& arguments, const RowState& state,
                                  std::size_t index, Span& span) const {
  span.blocker = state.last;
  if (!arguments.blocker) return;
  span.blocker = kNoSpan;
  if (*arguments.blocker == 0) return;
  const std::int64_t place = static_cast<std::int64_t>(index) + *arguments.blocker;
  if (*arguments.blocker < -static_cast<std::int64_t>(index) ||
      *arguments.blocker > std::numeric_limits<std::int32_t>::max())
    damaged("a slice waits for one that there is not");
  span.blocker = static_cast<std::int32_t>(place);
}

void RebuiltTimeline::add_memory(const SimulatedEvent& event) {
  if (!select(event.process) || event.name != "memory") return;
  if (!is_time(event.start)) damaged("a point of memory has no time");
  timeline_.ranks[rank_].memory.push_back({seconds_of(*event.start), event.arguments.gib * 0x1p30});
}

void RebuiltTimeline::check_rank(const RankTimeline& rank, const RankState& state) const {
  const auto slices = static_cast<std::int64_t>(rank.spans.size());
  if (slices != state.slices)
    damaged(fmt::format("rank {} has {} of its {} slices", rank.rank, slices, state.slices));
  for (const Span& span : rank.spans) {
    if (span.blocker >= slices) damaged("a slice waits for one that there is not");
  }
  if (goes_in_a_circle(rank.spans)) damaged("its slices wait for each other in a circle");
}

Timeline RebuiltTimeline::finished() {
  if (timeline_.ranks.size() != head_.ranks)
    damaged(fmt::format("it has {} of its {} ranks", timeline_.ranks.size(), head_.ranks));
  for (std::size_t i = 0; i < states_.size(); ++i) check_rank(timeline_.ranks[i], states_[i]);
  return std::move(timeline_);
}

std::uint32_t RebuiltTimeline::name(std::string_view text) {
  const auto known = names_.find(text);
  if (known != names_.end()) return known->second;
  const auto number = static_cast<std::uint32_t>(timeline_.names.size());
  timeline_.names.emplace_back(text);
  names_.emplace(text, number);
  return number;
}

Cause RebuiltTimeline::cause(std::string_view name) const {
  const auto known = cause_named(name);
  if (!known) damaged(fmt::format("{} is no cause", quoted(std::string(name))));
  return *known;
}

void RebuiltTimeline::damaged(const std::string& what) const { refuse_damaged(file_, what); }

}  // namespace stepsim
