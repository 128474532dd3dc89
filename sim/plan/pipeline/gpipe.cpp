// GPipe: all forward passes, then all backward passes.
//
// Huang et al. 2019; bubble (p-1)(F+B), activations of all micro-batches in flight.
#include "sim/core/registry.hpp"
#include "sim/plan/schedule.hpp"

namespace stepsim {
namespace {

std::vector<Action> order(const PipelineShape& shape, int) {
  std::vector<Action> actions;
  for (int i = 0; i < shape.micro_batches; ++i) actions.push_back({PassKind::forward, i});
  for (int i = 0; i < shape.micro_batches; ++i) actions.push_back({PassKind::backward, i});
  return actions;
}

const Registered<Schedule> gpipe{{
    .name = "gpipe",
    .description = "all forward passes, then all backward passes",
    .order = order,
}};

}  // namespace
}  // namespace stepsim
