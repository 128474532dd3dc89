// Interleaved 1F1B: each stage holds several chunks of the model, which divides the bubble by their
// number.
//
// Narayanan et al. 2021, section 2.2; order as in NVIDIA/Megatron-LM
// megatron/core/pipeline_parallel/schedules.py: passes walk the chunks in groups of p
// micro-batches, backward through the chunks in reverse; warm-up 2(p-r-1) + (v-1)p passes.
#include <algorithm>

#include "sim/core/registry.hpp"
#include "sim/plan/schedule.hpp"

namespace stepsim {
namespace {

/// The i-th pass of a direction: chunk by chunk within a group of p micro-batches.
Action pass(const PipelineShape& shape, bool forward, int i) {
  const int group = shape.stages * shape.chunks;
  const int chunk = i % group / shape.stages;
  const int micro_batch = i / group * shape.stages + i % shape.stages;
  return {forward, micro_batch, forward ? chunk : shape.chunks - 1 - chunk};
}

std::vector<Action> order(const PipelineShape& shape, int stage) {
  const int p = shape.stages;
  const int total = shape.micro_batches * shape.chunks;
  const int warm_up = std::min(2 * (p - stage - 1) + (shape.chunks - 1) * p, total);
  std::vector<Action> actions;
  for (int i = 0; i < warm_up; ++i) actions.push_back(pass(shape, true, i));
  for (int i = 0; i < total - warm_up; ++i) {
    actions.push_back(pass(shape, true, warm_up + i));
    actions.push_back(pass(shape, false, i));
  }
  for (int i = total - warm_up; i < total; ++i) actions.push_back(pass(shape, false, i));
  return actions;
}

const Registered<Schedule> interleaved{{
    .name = "interleaved",
    .description = "1F1B over several model chunks per stage (Megatron-LM's order)",
    .interleaved = true,
    .order = order,
}};

}  // namespace
}  // namespace stepsim
