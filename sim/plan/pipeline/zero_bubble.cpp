// Writes one forward pass, one input gradient, and weight gradients where a bubble would be.
#include "sim/plan/pipeline/zero_bubble.hpp"

#include <algorithm>

namespace stepsim {

std::vector<Action> zero_bubble_order(const PipelineShape& shape, int stage, int depth) {
  const int m = shape.micro_batches;
  const int warm_up = std::min(depth * (shape.stages - 1 - stage), m);
  const int delay = std::min(depth * stage, m);
  std::vector<Action> actions;
  for (int i = 0; i < warm_up; ++i) actions.push_back({PassKind::forward, i});
  for (int i = 0; i < m; ++i) {
    if (warm_up + i < m) actions.push_back({PassKind::forward, warm_up + i});
    actions.push_back({PassKind::input_gradient, i});
    if (i >= delay) actions.push_back({PassKind::weight_gradient, i - delay});
  }
  for (int i = m - delay; i < m; ++i) actions.push_back({PassKind::weight_gradient, i});
  return actions;
}

}  // namespace stepsim
