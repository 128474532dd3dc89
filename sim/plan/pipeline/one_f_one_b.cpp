// 1F1B: after a short warm-up each stage alternates one forward and one backward pass.
//
// Narayanan et al. 2019 (PipeDream-Flush); order as in NVIDIA/Megatron-LM
// megatron/core/pipeline_parallel/schedules.py. Bubble (p-1)(F+B) as GPipe, but stage r holds the
// activations of min(p-r, m) micro-batches only. One stage can pair each backward pass with the
// forward pass of the next micro-batch; with several stages each pair would wait for two hops, a
// way there and back, so that Megatron-LM refuses pairs, too.
#include <algorithm>

#include "sim/core/registry.hpp"
#include "sim/plan/schedule.hpp"

namespace stepsim {
namespace {

std::vector<Action> order(const PipelineShape& shape, int stage) {
  const int m = shape.micro_batches;
  const int warm_up = std::min(shape.stages - 1 - stage + (shape.pairs ? 1 : 0), m);
  std::vector<Action> actions;
  for (int i = 0; i < warm_up; ++i) actions.push_back({PassKind::forward, i});
  for (int i = 0; i < m - warm_up; ++i) {
    actions.push_back({PassKind::forward, warm_up + i});
    actions.push_back({PassKind::backward, i, 0, shape.pairs});
  }
  for (int i = m - warm_up; i < m; ++i) actions.push_back({PassKind::backward, i});
  return actions;
}

const Registered<Schedule> one_f_one_b{{
    .name = "1f1b",
    .description = "one forward, one backward after a warm-up of p-1-stage forwards",
    .needs = {.joins = Joins::one_stage},
    .order = order,
}};

}  // namespace
}  // namespace stepsim
