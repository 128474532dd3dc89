// ZB-H2: ZB-H1 with twice the warm-up: no bubble when forward and both halves of backward are
// equal.
//
// Qi et al. 2023 (arXiv 2401.10241, section 2.2). The first gradients reach stage r after
// 2(p-r) - 1 forward passes; its weight gradients come 2r passes late, so that each stage works
// from its first pass to its last. Bubble (p-1)(F + B_i - 2W) where that is positive and nothing
// makes the stages wait for each other between steps (no clipping by global norm; the paper
// validates afterwards), else (p-1) F at least. Every stage holds min(2p-1, m) micro-batches until
// their weight gradients.
//
// A stage of the warm-up runs ahead of what the next one has room for: a transfer that compute
// waits for would hold it up until that one asks for it, and make the step twice as long as 1F1B's.
#include "sim/core/registry.hpp"
#include "sim/plan/pipeline/zero_bubble.hpp"

namespace stepsim {
namespace {

const Registered<Schedule> zb_h2{{
    .name = "zb-h2",
    .description = "ZB-H1 with twice the warm-up: no bubble, twice the memory",
    .needs = {.overlaps = true},
    .order = [](const PipelineShape& shape,
                int stage) { return zero_bubble_order(shape, stage, 2); },
}};

}  // namespace
}  // namespace stepsim
