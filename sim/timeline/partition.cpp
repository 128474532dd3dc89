// The partition of a rank's time into causes: compute spans name the work, blockers name the gaps.
#include "sim/timeline/partition.hpp"

#include <algorithm>
#include <numeric>

namespace stepsim {
namespace {

/// The causes of one window of one rank while they are gathered.
class Ledger {
 public:
  Ledger(const Timeline& timeline, const RankTimeline& rank, double from, double to)
      : timeline_(timeline), rank_(rank), from_(from), to_(to), named_until_(from) {}

  /// Also keeps what is waited for, and when.
  CauseSeconds balance(std::vector<Wait>* waits = nullptr) {
    waits_ = waits;
    for (std::size_t i = first_span(); i < rank_.spans.size(); ++i) {
      const Span& span = rank_.spans[i];
      if (kind(span) != RowKind::compute) continue;
      if (span.start >= to_) break;
      name_gap(named_until_, span.start, span.blocker);
      name_work(span);
      named_until_ = std::max(named_until_, std::min(span.end, to_));
    }
    name_tail();
    return seconds_;
  }

 private:
  /// The first span that reaches into the window.
  std::size_t first_span() const {
    const auto& spans = rank_.spans;
    const auto first = std::partition_point(spans.begin(), spans.end(),
                                            [&](const Span& span) { return span.end <= from_; });
    return static_cast<std::size_t>(first - spans.begin());
  }

  RowKind kind(const Span& span) const { return rank_.rows[span.row].kind; }

  /// Names [lo, hi], if it is one, and returns its length.
  double name(Cause cause, double lo, double hi) {
    const double length = std::max(0.0, hi - lo);
    if (waits_ != nullptr && length > 0) waits_->push_back({lo, hi, cause});
    seconds_[static_cast<std::size_t>(cause)] += length;
    return length;
  }

  void name_work(const Span& span) {
    const double lo = std::max(span.start, from_);
    const double hi = std::min(span.end, to_);
    if (hi <= lo) return;
    const double share = (hi - lo) / (span.end - span.start);
    const CauseSeconds work = work_of(timeline_, span);
    for (std::size_t cause = 0; cause < kCauses; ++cause) seconds_[cause] += share * work[cause];
  }

  void name_gap(double lo, double hi, std::int32_t blocker) {
    double rest = hi - lo;
    while (hi > lo && blocker != kNoSpan) {
      const Span& held_by = rank_.spans[static_cast<std::size_t>(blocker)];
      // The compute row is idle in a gap, so the rest of the gap lies after this span: nobody is
      // left to ask.
      if (kind(held_by) == RowKind::compute) break;
      const bool passes_on = kind(held_by) == RowKind::host && held_by.cause == Cause::launch_gap;
      if (passes_on && held_by.blocker != kNoSpan) {
        // The end of a step has no cause of its own: what it waited for last is what held the rank.
        blocker = held_by.blocker;
        continue;
      }
      rest -= name(held_by.cause, std::max(lo, held_by.start), std::min(hi, held_by.end));
      rest -= name(held_by.wait_cause, std::max(lo, held_by.arrival), std::min(hi, held_by.start));
      hi = std::min(hi, held_by.arrival);
      blocker = held_by.blocker;
    }
    seconds_[static_cast<std::size_t>(Cause::launch_gap)] += std::max(0.0, rest);
  }

  /// From the last compute span to the end of the window.
  void name_tail() {
    const std::int32_t last = last_of_tail();
    const double own_end =
        last == kNoSpan ? named_until_ : rank_.spans[static_cast<std::size_t>(last)].end;
    if (last != kNoSpan) name_gap(named_until_, own_end, last);
    if (own_end < to_) name(has_stages() ? Cause::pipeline_bubble : Cause::sync_wait, own_end, to_);
  }

  /// Whether the others may be other stages of a pipeline.
  bool has_stages() const {
    return std::ranges::any_of(timeline_.ranks,
                               [](const RankTimeline& rank) { return rank.stage > 0; });
  }

  /// What the rank does last in the tail of the window: its host's work, a collective, or a
  /// part of a checkpoint that is waited for.
  std::int32_t last_of_tail() const {
    const auto& spans = rank_.spans;
    auto next = std::upper_bound(spans.begin(), spans.end(), to_,
                                 [](double time, const Span& span) { return time < span.end; });
    while (next != spans.begin() && (--next)->end > named_until_) {
      const bool saves = kind(*next) == RowKind::copy && next->cause == Cause::checkpoint;
      const bool joins = kind(*next) == RowKind::communication && next->message == 0;
      // A host's waits have no cause of their own: what they wait for is here, too.
      const bool works = kind(*next) == RowKind::host && next->cause != Cause::launch_gap;
      if (saves || joins || works) {
        return static_cast<std::int32_t>(next - spans.begin());
      }
    }
    return kNoSpan;
  }

  const Timeline& timeline_;
  const RankTimeline& rank_;
  double from_;
  double to_;
  double named_until_;
  std::vector<Wait>* waits_ = nullptr;
  CauseSeconds seconds_{};
};

}  // namespace

CauseSeconds work_of(const Timeline& timeline, const Span& span) {
  CauseSeconds seconds{};
  if (span.mix >= 0) seconds = timeline.mixes[static_cast<std::size_t>(span.mix)];
  for (double& part : seconds) part *= span.pace;
  const double named = std::accumulate(seconds.begin(), seconds.end(), span.contention);
  seconds[static_cast<std::size_t>(span.mix < 0 ? span.cause : Cause::launch_gap)] +=
      std::max(0.0, span.end - span.start - named);
  seconds[static_cast<std::size_t>(Cause::contention)] += span.contention;
  return seconds;
}

CauseSeconds partition(const Timeline& timeline, const RankTimeline& rank, double from, double to) {
  return Ledger(timeline, rank, from, to).balance();
}

std::vector<Wait> waits_of(const Timeline& timeline, const RankTimeline& rank, double from,
                           double to) {
  std::vector<Wait> named;
  Ledger(timeline, rank, from, to).balance(&named);
  std::ranges::sort(named, {}, &Wait::start);
  std::vector<Wait> waits;
  auto next = named.begin();
  double known_until = from;
  const auto launch_gap_until = [&](double time) {
    if (time > known_until) waits.push_back({known_until, time, Cause::launch_gap});
    known_until = std::max(known_until, time);
  };
  const auto waits_until = [&](double time) {
    for (; next != named.end() && next->start < time; ++next) {
      launch_gap_until(next->start);
      waits.push_back(*next);
      known_until = next->end;
    }
    launch_gap_until(time);
  };
  for (const Span& span : rank.spans) {
    if (rank.rows[span.row].kind != RowKind::compute || span.end <= from) continue;
    if (span.start >= to) break;
    waits_until(span.start);
    known_until = std::max(known_until, span.end);
  }
  waits_until(to);
  return waits;
}

}  // namespace stepsim
