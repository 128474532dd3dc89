// What a host thread does: most of its spans only wait.
#pragma once

#include "sim/timeline/timeline.hpp"

namespace stepsim {

/// Whether a span of a host row is work. A wait is let go when its blocker ends, work starts then;
/// which of the two it is tells them apart, to rounding.
bool is_host_work(const RankTimeline& rank, const Span& span);

/// The spans of host rows that work, in order of their end. Launches are no spans.
std::vector<const Span*> host_work(const RankTimeline& rank);

}  // namespace stepsim
