// The order that interleaved schedules share: 1F1B over model chunks, walked in rounds of
// micro-batches.
#pragma once

#include "sim/plan/schedule.hpp"

namespace stepsim {

/// The order in rounds of `size` micro-batches: passes walk the chunks, backward passes in reverse;
/// warm-up 2(p-r-1) + (v-1) size passes, one more for pairs. REQUIRES: size divides the
/// micro-batches.
std::vector<Action> order_in_rounds(const PipelineShape& shape, int stage, int size);

}  // namespace stepsim
