// Schedules in V shape that repeat one building block: two chunks a stage, down the stages and up
// again, with a split backward.
//
// Qi et al. 2024 (arXiv 2405.15362, section 3): in units of one pass the block of a micro-batch
// moves from stage to stage by an offset, forward down and up, and backward down and up; blocks
// follow each other every six units, for a stage has six passes of each. Two passes of a stage never
// fall on the same unit. A stage keeps a chunk for as long as the offsets of all four ways make it,
// so that their sum s stands for memory: the first stage holds s p / 6 chunks at most, about.
#pragma once

#include <vector>

#include "sim/plan/schedule.hpp"

namespace stepsim {

/// Units between a stage's pass and the next stage's, on each way.
struct VOffsets {
  int forward_down = 1, forward_up = 1, backward_down = 1, backward_up = 1;
};

/// Stage r holds the parts r and 2p-1-r.
int part_in_v(const PipelineShape& shape, int stage, int chunk);

/// The passes of a stage in order of the units of their blocks.
std::vector<Action> v_order(const PipelineShape& shape, int stage, VOffsets offsets);

}  // namespace stepsim
