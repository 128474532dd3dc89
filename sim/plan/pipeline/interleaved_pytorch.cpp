// Interleaved 1F1B as PyTorch runs it: the micro-batches need not be a multiple of the stages.
//
// Order as in pytorch/pytorch@1fd7abc torch/distributed/pipelining/schedules.py,
// ScheduleInterleaved1F1B: the micro-batches walk through the chunks in max(1, m / p) rounds of
// equal size g; warm-up (v-1)g + 2(p-1-r) passes. Bubble (p-1)(F+B)/v for m >= p, and another
// (v-1)(p-m)(F+B)/v below, where a round is too short to hide the way around the stages.
//
// A receive is posted in the time step of its send, not in that of the pass that needs it
// (PipelineScheduleMulti._step_microbatches, same file), so that no stage is held up by what the
// next one does meanwhile. That is what transfers beside compute are here; asked for only when they
// are due, sends of rounds that are no multiple of the stages would wait for each other.
#include <algorithm>

#include <fmt/format.h>

#include "sim/core/registry.hpp"
#include "sim/plan/pipeline/rounds.hpp"

namespace stepsim {
namespace {

int rounds(int stages, int micro_batches) { return std::max(1, micro_batches / stages); }

std::vector<Action> order(const PipelineShape& shape, int stage) {
  return order_in_rounds(shape, stage,
                         shape.micro_batches / rounds(shape.stages, shape.micro_batches));
}

std::string objection(int stages, int micro_batches) {
  const int count = rounds(stages, micro_batches);
  if (micro_batches % count == 0) return "";
  return fmt::format("needs micro-batches in multiples of its {} rounds, but there are {}", count,
                     micro_batches);
}

const Registered<Schedule> interleaved_pytorch{{
    .name = "interleaved-pytorch",
    .description = "1F1B over several model chunks per stage (PyTorch's rounds)",
    .needs = {.least_chunks = 2,
              .most_chunks = kMostChunks,
              .takes_turns = true,
              .overlaps = true,
              .objection = objection},
    .order = order,
}};

}  // namespace
}  // namespace stepsim
