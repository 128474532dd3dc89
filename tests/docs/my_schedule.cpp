// Mirror: all forward passes, then all backward passes in reverse, the latest micro-batch first.
//
// The example of docs/how-to-add.md. Bubble (p-1)(F+B) and activations as GPipe; only the order of
// the backward passes differs.
#include "sim/core/registry.hpp"
#include "sim/plan/schedule.hpp"

namespace stepsim {
namespace {

std::vector<Action> order(const PipelineShape& shape, int /*stage*/) {
  std::vector<Action> actions;
  for (int i = 0; i < shape.micro_batches; ++i)
    actions.push_back({.pass = PassKind::forward, .micro_batch = i});
  for (int i = shape.micro_batches - 1; i >= 0; --i)
    actions.push_back({.pass = PassKind::backward, .micro_batch = i});
  return actions;
}

const Registered<Schedule> mirror{{
    .name = "mirror",
    .description = "all forward passes, then all backward passes in reverse",
    .needs = {},
    .order = order,
}};

}  // namespace
}  // namespace stepsim
