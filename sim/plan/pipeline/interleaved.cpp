// Interleaved 1F1B: each stage holds several chunks of the model, which divides the bubble by their
// number.
//
// Narayanan et al. 2021, section 2.2; order as in NVIDIA/Megatron-LM
// megatron/core/pipeline_parallel/schedules.py: passes walk the chunks in groups of p
// micro-batches, backward through the chunks in reverse; warm-up 2(p-r-1) + (v-1)p passes, and one
// more where passes join (overlap_moe_expert_parallel_comm, get_pp_rank_microbatches).
#include <fmt/format.h>

#include "sim/core/registry.hpp"
#include "sim/plan/pipeline/rounds.hpp"

namespace stepsim {
namespace {

std::vector<Action> order(const PipelineShape& shape, int stage) {
  return order_in_rounds(shape, stage, shape.stages);
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
              .joins = Joins::asked,
              .objection = objection},
    .order = order,
}};

}  // namespace
}  // namespace stepsim
