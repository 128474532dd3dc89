// How long a communication group keeps a rank's links busy, as unions of intervals.
#include "sim/timeline/busy.hpp"

#include <algorithm>
#include <vector>

namespace stepsim {
namespace {

struct Interval {
  double from, to;
};

/// The union of the spans on rows that `wanted` names, within the window, in order and disjoint.
template <class Wanted>
std::vector<Interval> union_of(const RankTimeline& rank, double from, double to, Wanted wanted) {
  std::vector<Interval> backward;
  // Backward in order of end, each span adds what lies before the earliest start seen so far.
  for (auto span = rank.spans.rbegin(); span != rank.spans.rend() && span->end > from; ++span) {
    if (!wanted(rank.rows[span->row])) continue;
    const Interval part{std::max(span->start, from), std::min(span->end, to)};
    if (part.to <= part.from) continue;
    if (!backward.empty() && part.to >= backward.back().from) {
      backward.back().from = std::min(backward.back().from, part.from);
    } else {
      backward.push_back(part);
    }
  }
  std::ranges::reverse(backward);
  return backward;
}

std::vector<Interval> in_flight(const RankTimeline& rank, std::optional<Axis> axis, double from,
                                double to) {
  return union_of(rank, from, to, [&](const Row& row) {
    return row.kind == RowKind::communication && (!axis || row.axis == axis);
  });
}

double length(const std::vector<Interval>& intervals) {
  double sum = 0;
  for (const Interval& interval : intervals) sum += interval.to - interval.from;
  return sum;
}

/// What two unions have in common.
double common(const std::vector<Interval>& a, const std::vector<Interval>& b) {
  double sum = 0;
  for (std::size_t i = 0, k = 0; i < a.size() && k < b.size();) {
    sum += std::max(0.0, std::min(a[i].to, b[k].to) - std::max(a[i].from, b[k].from));
    (a[i].to < b[k].to ? i : k) += 1;
  }
  return sum;
}

}  // namespace

double busy(const RankTimeline& rank, std::optional<Axis> axis, double from, double to) {
  return length(in_flight(rank, axis, from, to));
}

double hidden(const RankTimeline& rank, std::optional<Axis> axis, double from, double to) {
  const auto computing =
      union_of(rank, from, to, [](const Row& row) { return row.kind == RowKind::compute; });
  return common(in_flight(rank, axis, from, to), computing);
}

}  // namespace stepsim
