// The order that ZB-H1 and ZB-H2 share: 1F1B with a split backward whose second half is delayed.
#pragma once

#include "sim/plan/schedule.hpp"

namespace stepsim {

/// After depth (p-1-r) forward passes: forward, input gradients and, depth r passes behind them,
/// weight gradients. What a later stage delays is what an earlier one has warmed up more.
std::vector<Action> zero_bubble_order(const PipelineShape& shape, int stage, int depth);

}  // namespace stepsim
