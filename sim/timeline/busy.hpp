// How long communication keeps a rank's links busy.
#pragma once

#include <optional>

#include "sim/timeline/timeline.hpp"

namespace stepsim {

/// Seconds of [from, to] in which at least one communication span along the axis is in flight: the
/// length of the union of their [start, end]. No axis means all of them. REQUIRES: spans in order
/// of their end.
double busy(const RankTimeline& rank, std::optional<Axis> axis, double from, double to);

/// Seconds of `busy` in which the compute row works too: communication that is hidden.
double hidden(const RankTimeline& rank, std::optional<Axis> axis, double from, double to);

}  // namespace stepsim
