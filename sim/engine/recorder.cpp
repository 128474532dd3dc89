// Spans and memory curves of recorded ranks.
#include "sim/engine/recorder.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

namespace stepsim {

Recorder::Recorder(const Plan& plan, const FoldedRank& rank, bool kernels)
    : plan_(plan), program_(plan.program(rank.rank)), kernels_(kernels) {
  timeline_.rank = rank.rank;
  timeline_.stage = program_.stage;
  timeline_.multiplicity = rank.multiplicity;
  timeline_.rows = program_.rows;
  timeline_.spans.reserve(program_.tasks.size());
  started_.resize(program_.rows.size());
  first_span_.assign(program_.tasks.size(), kNoSpan);
  last_span_ = first_span_;
}

std::int32_t Recorder::finished(TaskIndex index, double end, double host) {
  const Task& task = program_.tasks[index];
  const Started begun = std::exchange(started(index), {});
  Span span{.arrival = begun.arrival,
            .start = begun.start,
            .end = end,
            .name = task.name,
            .blocker = begun.blocker,
            .micro_batch = task.micro_batch,
            .operation = begun.operation,
            .row = task.row,
            .step = task.step,
            .cause = task.cause,
            .wait_cause = task.wait_cause};
  first_span_[index] = static_cast<std::int32_t>(timeline_.spans.size());
  if (task.kind == TaskKind::chain) {
    const Chain& planned = plan_.chains[task.work];
    if (!kernels_) {
      span.mix = static_cast<std::int32_t>(task.work);
      if (begun.varied != nullptr && planned.compute > 0)
        span.pace = begun.varied->compute / planned.compute;
    }
    const Chain& chain = begun.varied == nullptr ? planned : *begun.varied;
    return last_span_[index] = add_chain(span, chain, host, begun.slowed);
  }
  if (task.kind == TaskKind::communicate) {
    span.bytes = plan_.operations[task.work].bytes.bytes();
    span.message = is_transfer(task.channel) ? begun.operation : 0;
    span.sends = sends(task.channel);
  }
  const bool computes = task.work % kLanes == static_cast<std::uint32_t>(Lane::cores);
  if (task.kind == TaskKind::read && !computes) span.bytes = task.amount;
  timeline_.spans.push_back(span);
  return last_span_[index] = first_span_[index];
}

/// One span with the chain's mix of causes, or one for each kernel, started as launches and
/// predecessors allow.
std::int32_t Recorder::add_chain(Span span, const Chain& chain, double host,
                                 const ChainRun* slowed) {
  if (!kernels_) {
    if (slowed != nullptr) span.contention = slowed->contention();
    timeline_.spans.push_back(span);
    return static_cast<std::int32_t>(timeline_.spans.size()) - 1;
  }
  double free = span.arrival;
  double launched = host;
  for (std::size_t i = 0; i < chain.kernels.size(); ++i) {
    const Kernel& kernel = chain.kernels[i];
    launched += chain.launch_each + kernel.host;
    span.start = std::max(free, launched);
    span.end = span.start + kernel.seconds;
    if (slowed != nullptr) std::tie(span.start, span.end) = slowed->kernels()[i];
    span.contention = std::max(span.end - span.start - kernel.seconds, 0.0);
    span.name = kernel.name;
    span.cause = kernel.cause;
    span.outside = kernel.outside;
    timeline_.spans.push_back(span);
    span.blocker = static_cast<std::int32_t>(timeline_.spans.size()) - 1;
    span.arrival = free = span.end;
  }
  return span.blocker;
}

/// In the program's order, which is that of the compute row: one pass ends before the next begins,
/// though their dates may differ by a rounding error the other way round.
void Recorder::add_memory_curve() {
  MemoryPoint now{0, program_.resident_bytes};
  timeline_.memory.push_back(now);
  for (const MemoryStep& step : program_.memory) {
    const std::int32_t span = (step.at_start ? first_span_ : last_span_)[step.task];
    if (span == kNoSpan) continue;
    const Span& at = timeline_.spans[static_cast<std::size_t>(span)];
    now.time = std::max(now.time, step.at_start ? at.start : at.end);
    now.bytes += step.bytes;
    timeline_.memory.push_back(now);
  }
}

/// Kernels of a chain are added when the chain ends, after communication that ended between them;
/// and dates that differ by a rounding error may be called in either order.
void Recorder::sort_spans() {
  const auto ends_before = [](const Span& a, const Span& b) { return a.end < b.end; };
  if (std::ranges::is_sorted(timeline_.spans, ends_before)) return;
  std::vector<std::int32_t> order(timeline_.spans.size());
  std::iota(order.begin(), order.end(), 0);
  const auto end = [&](std::int32_t i) { return timeline_.spans[static_cast<std::size_t>(i)].end; };
  std::ranges::stable_sort(order, [&](auto a, auto b) { return end(a) < end(b); });
  std::vector<std::int32_t> place(order.size());
  std::vector<Span> sorted;
  for (std::size_t i = 0; i < order.size(); ++i) {
    place[static_cast<std::size_t>(order[i])] = static_cast<std::int32_t>(i);
    sorted.push_back(timeline_.spans[static_cast<std::size_t>(order[i])]);
  }
  for (Span& span : sorted) {
    if (span.blocker != kNoSpan) span.blocker = place[static_cast<std::size_t>(span.blocker)];
  }
  timeline_.spans = std::move(sorted);
}

RankTimeline Recorder::take() {
  add_memory_curve();
  sort_spans();
  return std::move(timeline_);
}

}  // namespace stepsim
