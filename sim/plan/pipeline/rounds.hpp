// The order that interleaved schedules share: 1F1B over model chunks, walked in rounds of
// micro-batches.
#pragma once

#include "sim/plan/schedule.hpp"

namespace stepsim {

/// Passes walk the chunks in rounds of `size` micro-batches, backward through the chunks in
/// reverse; warm-up 2(p-r-1) + (v-1) size passes, one more for pairs. REQUIRES: size divides the
/// micro-batches.
std::vector<Action> order_in_rounds(const PipelineShape& shape, int stage, int size);

}  // namespace stepsim
