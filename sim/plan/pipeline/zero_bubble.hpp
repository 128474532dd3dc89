// The order that ZB-H1 and ZB-H2 share: 1F1B with a split backward whose second half is delayed.
#pragma once

#include "sim/plan/schedule.hpp"

namespace stepsim {

/// The order of a stage: depth (p-1-r) forward passes, then forward passes, input gradients and,
/// depth r passes behind them, weight gradients. A delay at a later stage is met by more warm-up at
/// an earlier one.
std::vector<Action> zero_bubble_order(const PipelineShape& shape, int stage, int depth);

}  // namespace stepsim
