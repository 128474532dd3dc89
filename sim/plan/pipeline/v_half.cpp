// V-Half: a building block in V shape whose offsets sum to six, so that half of the activations of
// 1F1B are held (Qi et al. 2024, arXiv 2405.15362, section 3.3).
#include "sim/core/registry.hpp"
#include "sim/plan/pipeline/v_block.hpp"

namespace stepsim {
namespace {

const Registered<Schedule> v_half{{
    .name = "v-half",
    .description = "two chunks per stage in V shape, split backward: half the memory of 1F1B",
    .needs = {.least_chunks = 2, .most_chunks = 2, .overlaps = true},
    .part = part_in_v,
    .order =
        [](const PipelineShape& shape, int stage) {
          return v_order(shape, stage, {2, 1, 2, 1});
        },
}};

}  // namespace
}  // namespace stepsim
