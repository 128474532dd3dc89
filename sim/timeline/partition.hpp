// The partition of a rank's time into causes: every moment of its compute row has exactly one name.
//
// Work is named by the compute spans themselves. A gap is named by whoever held the next compute
// span up: from that span the chain of blockers is walked backward. While a blocker is in flight
// the gap has the blocker's `cause`; while the blocker itself waits to start it has the blocker's
// `wait_cause`; before the blocker arrived its own blocker answers. What nobody answers for is a
// launch gap.
//
//   compute   ####............####    the gap of the second span, blocked by the all-reduce:
//   data        [wait|in flight]      wait_cause until the all-reduce starts, cause until it ends,
//                                     launch_gap from there to the second span
#pragma once

#include <vector>

#include "sim/timeline/timeline.hpp"

namespace stepsim {

/// Seconds of [from, to] by cause, on that rank's compute row; they sum to `to - from` within
/// rounding.
///
/// A span with a mix that the window cuts is shared in proportion. The time after the last compute
/// span in the window is named by what the rank itself did last in it, if anything: its host's
/// work, a collective (the all-gather of a sharded optimizer, say), a checkpoint. After that other
/// ranks still have work to do: a pipeline bubble where there are stages, a wait for the others
/// where there are none. REQUIRES: from <= to; spans in order of their end; at most one compute
/// row.
CauseSeconds partition(const Timeline& timeline, const RankTimeline& rank, double from, double to);

/// A stretch in which a rank computes nothing, and what it waits for.
struct Wait {
  double start = 0, end = 0;
  Cause cause = Cause::launch_gap;
};

/// All such stretches of [from, to], in order of time; with the spans of the compute row they fill
/// it. Their seconds by cause are those that partition() names beside work. REQUIRES: what
/// partition() does.
std::vector<Wait> waits_of(const Timeline& timeline, const RankTimeline& rank, double from,
                           double to);

/// What a span of a compute row spends the time between its start and its end on; sums to it.
CauseSeconds work_of(const Timeline& timeline, const Span& span);

}  // namespace stepsim
