// What a stage's passes take and free, and the moment at which it holds the most.
//
// The walk goes along the schedule's order. It needs no clock, because a stage runs its passes one
// after the other. The recorder puts the same changes on the clock (sim/engine/recorder.cpp), so
// that the memory curve of a simulation peaks at the figure that is found here.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "sim/ops/op_graph.hpp"
#include "sim/ops/working_set.hpp"
#include "sim/plan/schedule.hpp"
#include "sim/scenario/scenario.hpp"

namespace stepsim {

/// What is held while a block runs and when it is done, relative to the beginning of its pass.
struct BlockMoment {
  Working most, leaves;
  std::string block, op;
};

/// One pass of one chunk and micro-batch, relative to what was held when it began.
struct PassMemory {
  Working most;           ///< what the pass holds at its worst moment
  Working leaves;         ///< what remains when it is done; negative where it frees
  std::string block, op;  ///< where its worst moment is; a forward pass has it at its end
  std::vector<BlockMoment> moments{};  ///< of its blocks, as they run; spans as one
};

/// Two passes that run as one, block by block in turns: what one saves meanwhile takes the place of
/// what the other frees (sim/plan/pass/overlap.hpp).
PassMemory in_turns(const PassMemory& forward, const PassMemory& backward);

/// The memory of a chunk's passes, by PassKind. A forward pass leaves what its blocks save.
/// Backward passes free it block by block and hold the working set of the block that runs. After
/// the first half of a split backward, what the second half needs remains: the inputs of the layers
/// with parameters and the gradients of their outputs (Qi et al. 2023, table 1), recomputed or not.
using ChunkMemory = std::array<PassMemory, kPassKinds>;
ChunkMemory chunk_memory(const Scenario& scenario, const OpGraph& graph, int stage, int chunk);

/// The first moment at which a stage holds the most that its schedule makes it hold.
struct PeakMoment {
  Working held;
  Action pass;
  std::string block, op;
};
PeakMoment peak_moment(const Scenario& scenario, const OpGraph& graph, int stage);

}  // namespace stepsim
