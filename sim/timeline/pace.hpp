// What ranks do for themselves, from their spans.
#pragma once

#include <vector>

#include "sim/timeline/timeline.hpp"

namespace stepsim {

/// The paces of the ranks whose spans a timeline has: Timeline::paces of one that was read back. A
/// simulation knows those of all.
std::vector<RankPace> paces_of(const Timeline& timeline);

}  // namespace stepsim
