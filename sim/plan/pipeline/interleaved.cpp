// Interleaved 1F1B: each stage holds several chunks of the model, which divides the bubble by their
// number.
//
// Narayanan et al. 2021, section 2.2; order as in NVIDIA/Megatron-LM
// megatron/core/pipeline_parallel/schedules.py: passes walk the chunks in groups of p
// micro-batches, backward through the chunks in reverse; warm-up 2(p-r-1) + (v-1)p passes.
#include <algorithm>

#include <fmt/format.h>

#include "sim/core/registry.hpp"
#include "sim/plan/schedule.hpp"

namespace stepsim {
namespace {

/// The i-th pass of a direction: chunk by chunk within a group of p micro-batches.
Action pass(const PipelineShape& shape, PassKind kind, int i) {
  const int group = shape.stages * shape.chunks;
  const int chunk = i % group / shape.stages;
  const int micro_batch = i / group * shape.stages + i % shape.stages;
  return {kind, micro_batch, kind == PassKind::forward ? chunk : shape.chunks - 1 - chunk};
}

std::vector<Action> order(const PipelineShape& shape, int stage) {
  const int p = shape.stages;
  const int total = shape.micro_batches * shape.chunks;
  const int warm_up = std::min(2 * (p - stage - 1) + (shape.chunks - 1) * p, total);
  std::vector<Action> actions;
  for (int i = 0; i < warm_up; ++i) actions.push_back(pass(shape, PassKind::forward, i));
  for (int i = 0; i < total - warm_up; ++i) {
    actions.push_back(pass(shape, PassKind::forward, warm_up + i));
    actions.push_back(pass(shape, PassKind::backward, i));
  }
  for (int i = total - warm_up; i < total; ++i)
    actions.push_back(pass(shape, PassKind::backward, i));
  return actions;
}

std::string objection(int stages, int micro_batches) {
  if (micro_batches % stages == 0) return "";
  return fmt::format("needs micro-batches in multiples of the {} stages, but there are {}", stages,
                     micro_batches);
}

const Registered<Schedule> interleaved{{
    .name = "interleaved",
    .description = "1F1B over several model chunks per stage (Megatron-LM's order)",
    .needs = {.least_chunks = 2,
              .most_chunks = kMostChunks,
              .takes_turns = true,
              .objection = objection},
    .order = order,
}};

}  // namespace
}  // namespace stepsim
