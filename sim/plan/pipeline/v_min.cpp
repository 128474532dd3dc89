// V-Min: a building block in V shape with the least offsets, so that a third of the activations of
// 1F1B are held (Qi et al. 2024, arXiv 2405.15362, section 3.3).
#include "sim/core/registry.hpp"
#include "sim/plan/pipeline/v_block.hpp"

namespace stepsim {
namespace {

const Registered<Schedule> v_min{{
    .name = "v-min",
    .description = "two chunks per stage in V shape, split backward: a third of 1F1B's memory",
    .needs = {.least_chunks = 2, .most_chunks = 2, .overlaps = true},
    .part = part_in_v,
    .order =
        [](const PipelineShape& shape, int stage) {
          return v_order(shape, stage, {1, 1, 1, 1});
        },
}};

}  // namespace
}  // namespace stepsim
