// Makes slices of whole nanoseconds from spans, and finds the arrows between slices that are two
// ends of one message.
#include "sim/report/run/trace_flows.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace stepsim {

std::int64_t nanoseconds(double seconds) { return std::llround(seconds * 1e9); }

std::vector<Slice> slices_of(const RankTimeline& rank) {
  std::vector<std::int64_t> free_from(rank.rows.size(), 0);
  std::vector<Slice> slices;
  slices.reserve(rank.spans.size());
  for (const Span& span : rank.spans) {
    const std::int64_t start = std::max(nanoseconds(span.start), free_from[span.row]);
    const std::int64_t end = std::max(nanoseconds(span.end), start);
    free_from[span.row] = end;
    slices.push_back({start, end});
  }
  return slices;
}

Flows::Flows(const std::vector<const RankTimeline*>& ranks) {
  std::vector<End> ends;
  for (const RankTimeline* rank : ranks) collect(*rank, ends);
  const auto order = [](const End& end) {
    return std::tuple(end.span->step, end.span->message, !end.span->sends);
  };
  std::ranges::stable_sort(ends, [&](const End& a, const End& b) { return order(a) < order(b); });
  join(ends);
}

const FlowLeg* Flows::at(const Span& span) const {
  if (span.message == 0) return nullptr;
  const auto found = legs_.find(&span);
  return found == legs_.end() ? nullptr : &found->second;
}

/// A leg must lie strictly inside its slice, so that a slice of less than 2 ns has none.
void Flows::collect(const RankTimeline& rank, std::vector<End>& ends) const {
  const std::vector<Slice> slices = slices_of(rank);
  for (std::size_t i = 0; i < slices.size(); ++i) {
    const Span& span = rank.spans[i];
    if (span.message == 0 || slices[i].end - slices[i].start < 2) continue;
    ends.push_back({&span, span.sends ? slices[i].start + 1 : slices[i].end - 1});
  }
}

/// Neighbours in the order that are the two ends of one message become a flow.
void Flows::join(const std::vector<End>& ends) {
  std::uint64_t next_id = 1;
  for (std::size_t i = 0; i + 1 < ends.size(); ++i) {
    const End& from = ends[i];
    const End& to = ends[i + 1];
    const bool same = from.span->step == to.span->step && from.span->message == to.span->message;
    if (!same || !from.span->sends || to.span->sends || from.at >= to.at) continue;
    legs_[from.span] = {next_id, from.at, true};
    legs_[to.span] = {next_id, to.at, false};
    ++next_id;
  }
}

}  // namespace stepsim
