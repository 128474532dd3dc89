// Interleaved 1F1B as PyTorch runs it: the micro-batches need not be a multiple of the stages.
//
// Order as in pytorch/pytorch@1fd7abc torch/distributed/pipelining/schedules.py,
// ScheduleInterleaved1F1B: the micro-batches walk through the chunks in max(1, m / p) rounds of
// equal size g; warm-up (v-1)g + 2(p-1-r) passes. Bubble (p-1)(F+B)/v for m >= p, and another
// (v-1)(p-m)(F+B)/v below, where a round is too short to hide the way around the stages.
#include <algorithm>

#include <fmt/format.h>

#include "sim/core/registry.hpp"
#include "sim/plan/schedule.hpp"

namespace stepsim {
namespace {

int rounds(int stages, int micro_batches) { return std::max(1, micro_batches / stages); }

/// The i-th pass of a direction: chunk by chunk within a round of `size` micro-batches.
Action pass(const PipelineShape& shape, int size, PassKind kind, int i) {
  const int round = size * shape.chunks;
  const int chunk = i % round / size;
  const int micro_batch = i / round * size + i % size;
  return {kind, micro_batch, kind == PassKind::forward ? chunk : shape.chunks - 1 - chunk};
}

std::vector<Action> order(const PipelineShape& shape, int stage) {
  const int size = shape.micro_batches / rounds(shape.stages, shape.micro_batches);
  const int total = shape.micro_batches * shape.chunks;
  const int warm_up = std::min((shape.chunks - 1) * size + 2 * (shape.stages - 1 - stage), total);
  std::vector<Action> actions;
  for (int i = 0; i < warm_up; ++i) actions.push_back(pass(shape, size, PassKind::forward, i));
  for (int i = 0; i < total - warm_up; ++i) {
    actions.push_back(pass(shape, size, PassKind::forward, warm_up + i));
    actions.push_back(pass(shape, size, PassKind::backward, i));
  }
  for (int i = total - warm_up; i < total; ++i)
    actions.push_back(pass(shape, size, PassKind::backward, i));
  return actions;
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
              .objection = objection},
    .order = order,
}};

}  // namespace
}  // namespace stepsim
