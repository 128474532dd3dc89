// ZB-H1: 1F1B with a split backward; weight gradients fill a part of the bubble, in the memory of
// 1F1B.
//
// Qi et al. 2023 (arXiv 2401.10241, section 2.1). Order as in pytorch/pytorch@1fd7abc
// torch/distributed/pipelining/schedules.py, ScheduleInterleavedZeroBubble with one chunk a stage:
// warm-up as 1F1B, weight gradients r passes late. Bubble (p-1)(F + B_i - W); every stage holds
// min(p, m) micro-batches until their weight gradients, as many as stage 0 of 1F1B.
#include "sim/core/registry.hpp"
#include "sim/plan/pipeline/zero_bubble.hpp"

namespace stepsim {
namespace {

const Registered<Schedule> zb_h1{{
    .name = "zb-h1",
    .description = "1F1B, weight gradients delayed into the bubble (memory of 1F1B)",
    .needs = {},
    .order = [](const PipelineShape& shape,
                int stage) { return zero_bubble_order(shape, stage, 1); },
}};

}  // namespace
}  // namespace stepsim
