// Walking from blocker to blocker, and from a collective to its last member.
#include "sim/timeline/critical_path.hpp"

#include <algorithm>

#include "sim/core/error.hpp"
#include "sim/timeline/host_work.hpp"
#include "sim/timeline/partition.hpp"

namespace stepsim {
namespace {

/// A span, or nothing.
struct Place {
  std::uint32_t rank = 0;
  std::int32_t span = kNoSpan;
};

class Walk {
 public:
  Walk(const Timeline& timeline, double from, double to)
      : timeline_(timeline), from_(from), now_(to) {
    for (std::uint32_t rank = 0; rank < timeline.ranks.size(); ++rank) remember(rank);
  }

  std::vector<PathSegment> segments() {
    Place place = last_place();
    std::size_t left = spans_ + 1;  // causes cannot go round in a circle
    while (now_ > from_ && place.span != kNoSpan) {
      if (left-- == 0) throw InternalError("the critical path of a step goes round in a circle");
      place = before(place);
    }
    if (now_ > from_) take(place, Cause::launch_gap, from_);  // the first launches of a run
    std::ranges::reverse(segments_);
    return std::move(segments_);
  }

 private:
  /// Who comes last to each operation that ends in the step, for all its members at once.
  void remember(std::uint32_t rank) {
    const auto& spans = timeline_.ranks[rank].spans;
    const auto first = std::partition_point(spans.begin(), spans.end(),
                                            [&](const Span& span) { return span.end <= from_; });
    for (auto span = first; span != spans.end() && span->end <= now_; ++span) {
      ++spans_;
      if (span->operation == 0) continue;
      const Place here{rank, static_cast<std::int32_t>(span - spans.begin())};
      if (last_to_arrive_.size() <= span->operation) last_to_arrive_.resize(span->operation + 1);
      Place& last = last_to_arrive_[span->operation];
      if (last.span == kNoSpan || span->arrival > at(last).arrival) last = here;
    }
  }

  const Span& at(Place place) const {
    return timeline_.ranks[place.rank].spans[static_cast<std::size_t>(place.span)];
  }
  RowKind kind(Place place) const { return timeline_.ranks[place.rank].rows[at(place).row].kind; }

  /// The span that ends the step: a host's last wait, where one ends then.
  Place last_place() const {
    Place last;
    for (std::uint32_t rank = 0; rank < timeline_.ranks.size(); ++rank) {
      const auto& spans = timeline_.ranks[rank].spans;
      auto next = std::upper_bound(spans.begin(), spans.end(), now_,
                                   [](double time, const Span& span) { return time < span.end; });
      for (; next != spans.begin(); --next) {
        const Place here{rank, static_cast<std::int32_t>(next - spans.begin() - 1)};
        if (last.span != kNoSpan && at(here).end < at(last).end) break;
        const bool later = last.span == kNoSpan || at(here).end > at(last).end;
        if (later || (kind(here) == RowKind::host && kind(last) != RowKind::host)) last = here;
      }
    }
    return last;
  }

  /// Names the time from `until` to where the walk is.
  void take(Place place, Cause cause, double until) {
    const double start = std::max(until, from_);
    if (start >= now_) return;
    const std::uint32_t name = place.span == kNoSpan ? 0 : at(place).name;
    segments_.push_back({place.rank, name, cause, start, now_ - start});
    now_ = start;
  }

  /// Names the task's own time. What a chain spends on several causes is laid out by cause.
  void take_work(Place place) {
    const Span& span = at(place);
    take(place, Cause::launch_gap, span.end);  // rounding
    if (kind(place) == RowKind::compute && span.end > span.start) {
      const CauseSeconds work = work_of(timeline_, span);
      const double share = (now_ - std::max(span.start, from_)) / (span.end - span.start);
      for (std::size_t cause = kCauses; cause-- > 0;) {
        const double until = now_ - share * work[cause];
        if (work[cause] > 0) take(place, static_cast<Cause>(cause), std::max(until, span.start));
      }
    }
    take(place, span.cause, span.start);
  }

  Place blocker_of(Place place) const { return {place.rank, at(place).blocker}; }

  /// The task before this one on its row.
  Place previous_on_row(Place place) const {
    const std::uint16_t row = at(place).row;
    do --place.span;
    while (place.span != kNoSpan && at(place).row != row);
    return place;
  }

  /// Names what the task did until `now_` and returns what it waited for.
  Place before(Place place) {
    if (kind(place) == RowKind::host && !is_host_work(timeline_.ranks[place.rank], at(place))) {
      const Place blocker = blocker_of(place);
      const bool waited = blocker.span != kNoSpan && at(blocker).end >= at(place).start;
      return reach(place, waited ? blocker : previous_on_row(place));
    }
    take_work(place);
    const Span& span = at(place);
    if (span.operation == 0) return reach(place, blocker_of(place));
    const bool is_known = span.operation < last_to_arrive_.size();
    Place last = is_known ? last_to_arrive_[span.operation] : Place{};
    if (last.span == kNoSpan) last = place;
    if (at(last).arrival <= span.arrival) last = place;
    take(place, span.wait_cause, at(last).arrival);  // where the last of all was not recorded
    return reach(last, blocker_of(last));
  }

  /// Goes to what `place` waited for; between them lie launches.
  Place reach(Place place, Place blocker) {
    if (blocker.span != kNoSpan) take(place, Cause::launch_gap, at(blocker).end);
    return blocker;
  }

  const Timeline& timeline_;
  double from_;
  double now_;
  std::size_t spans_ = 0;
  std::vector<Place> last_to_arrive_;  // by operation, which are numbered as they start
  std::vector<PathSegment> segments_;  // the latest first
};

}  // namespace

std::vector<PathSegment> critical_path(const Timeline& timeline, std::size_t step) {
  return Walk(timeline, timeline.step_start(step), timeline.step_ends[step]).segments();
}

CauseSeconds causes_of(const std::vector<PathSegment>& path) {
  CauseSeconds seconds{};
  for (const PathSegment& segment : path)
    seconds[static_cast<std::size_t>(segment.cause)] += segment.seconds;
  return seconds;
}

}  // namespace stepsim
