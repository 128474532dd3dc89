// The critical path: what a step's time was spent on, from its end back to its start, across ranks.
//
// From the task that ended the step the walk goes back to whatever let it start last: to the task
// before it on the same rank, or, where a collective or a transfer waited for its last member, to
// what that rank was doing until then. So nobody waits for another rank on this path: the time is
// that rank's work. Its tasks cannot all be made faster without making the step shorter, which
// cannot be said of any other rank's.
//
//   rank 0   F F . . B B |        the step ends with B on rank 0, which the transfer let start,
//   rank 1   . . F B . . |        which rank 1 sent after its B: the path is 0: F F, 1: F B, 0: B B
#pragma once

#include <vector>

#include "sim/timeline/timeline.hpp"

namespace stepsim {

/// One stretch of the path.
struct PathSegment {
  std::uint32_t rank = 0;  ///< index into Timeline::ranks; of a folded run, one of its class
  std::uint32_t name = 0;  ///< index into Timeline::names: the task
  Cause cause = Cause::forward;
  double start = 0;  ///< a task of several causes has them one after the other
  double seconds = 0;
};

/// In order of time; the segments follow each other without gaps and sum to the step. A collective
/// in flight has the cause that waiting for it has; the time between the end of one task and the
/// launch of the next is a launch gap. Where the rank that arrived last was not recorded, the wait
/// for it stays with the rank that waited. REQUIRES: spans in order of their end.
std::vector<PathSegment> critical_path(const Timeline& timeline, std::size_t step);

/// Seconds of the segments by cause.
CauseSeconds causes_of(const std::vector<PathSegment>& path);

}  // namespace stepsim
