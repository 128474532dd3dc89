// Sets of moments: unions, intersections and differences of intervals.
#include "sim/recording/interval_set.hpp"

#include <algorithm>

namespace stepsim {
namespace {

/// The first interval that ends after the moment.
IntervalSet::const_iterator first_after(const IntervalSet& set, Nanoseconds moment) {
  return std::upper_bound(set.begin(), set.end(), moment,
                          [](Nanoseconds at, const Interval& i) { return at < i.end; });
}

}  // namespace

IntervalSet united(std::vector<Interval> intervals) {
  std::erase_if(intervals, [](const Interval& i) { return i.end <= i.start; });
  const auto earlier = [](const Interval& a, const Interval& b) { return a.start < b.start; };
  if (!std::is_sorted(intervals.begin(), intervals.end(), earlier))
    std::sort(intervals.begin(), intervals.end(), earlier);
  IntervalSet set;
  for (const Interval& next : intervals) {
    if (!set.empty() && next.start <= set.back().end) {
      set.back().end = std::max(set.back().end, next.end);
    } else {
      set.push_back(next);
    }
  }
  return set;
}

IntervalSet intersection(const IntervalSet& a, const IntervalSet& b) {
  IntervalSet both;
  for (auto x = a.begin(), y = b.begin(); x != a.end() && y != b.end();) {
    const Interval common{std::max(x->start, y->start), std::min(x->end, y->end)};
    if (common.length() > 0) both.push_back(common);
    x->end < y->end ? ++x : ++y;
  }
  return both;
}

IntervalSet difference(const IntervalSet& a, const IntervalSet& b) {
  IntervalSet rest;
  auto hole = b.begin();
  for (Interval left : a) {
    while (hole != b.end() && hole->end <= left.start) ++hole;
    for (auto next = hole; next != b.end() && next->start < left.end; ++next) {
      if (next->start > left.start) rest.push_back({left.start, next->start});
      left.start = next->end;
    }
    if (left.length() > 0) rest.push_back(left);
  }
  return rest;
}

IntervalSet clipped(const IntervalSet& set, Interval window) {
  IntervalSet part;
  for (auto i = first_after(set, window.start); i != set.end() && i->start < window.end; ++i) {
    const Interval within{std::max(i->start, window.start), std::min(i->end, window.end)};
    if (within.length() > 0) part.push_back(within);
  }
  return part;
}

Nanoseconds length(const IntervalSet& set) {
  Nanoseconds sum = 0;
  for (const Interval& i : set) sum += i.length();
  return sum;
}

Nanoseconds length_within(const IntervalSet& set, Interval window) {
  Nanoseconds sum = 0;
  for (auto i = first_after(set, window.start); i != set.end() && i->start < window.end; ++i)
    sum += Interval{std::max(i->start, window.start), std::min(i->end, window.end)}.length();
  return sum;
}

}  // namespace stepsim
