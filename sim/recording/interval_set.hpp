// Sets of moments: unions, intersections and differences of intervals.
//
// Work on a GPU overlaps: on several streams, and within one (programmatic dependent launch). So
// times are lengths of unions, never sums.
#pragma once

#include <cstdint>
#include <vector>

namespace stepsim {

using Nanoseconds = std::int64_t;
inline double seconds_of(Nanoseconds time) { return static_cast<double>(time) * 1e-9; }

/// The moments from `start` until before `end`; empty where `end` is not later.
struct Interval {
  Nanoseconds start = 0, end = 0;
  Nanoseconds length() const { return end > start ? end - start : 0; }
  bool operator==(const Interval&) const = default;
};

/// Intervals in order of time, none empty, none touching the next.
using IntervalSet = std::vector<Interval>;

/// The moments that lie in any of the intervals, which may have any order.
IntervalSet united(std::vector<Interval> intervals);
/// The moments of both sets.
IntervalSet intersection(const IntervalSet& a, const IntervalSet& b);
/// The moments of `a` that are not in `b`.
IntervalSet difference(const IntervalSet& a, const IntervalSet& b);
/// The part of the set within the window.
IntervalSet clipped(const IntervalSet& set, Interval window);

Nanoseconds length(const IntervalSet& set);
/// The length of the part within the window.
Nanoseconds length_within(const IntervalSet& set, Interval window);

}  // namespace stepsim
