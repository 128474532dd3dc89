// How long a communication group keeps a rank's links busy.
#pragma once

#include <string_view>

#include "sim/timeline/timeline.hpp"

namespace stepsim {

/// Seconds of [from, to] in which at least one communication span of the group is in flight: the
/// length of the union of their [start, end]. REQUIRES: spans in order of their end.
/// An empty group means all of them.
double busy(const RankTimeline& rank, std::string_view group, double from, double to);

/// Of these, the seconds in which the compute row works too: communication that is hidden.
double hidden(const RankTimeline& rank, std::string_view group, double from, double to);

}  // namespace stepsim
