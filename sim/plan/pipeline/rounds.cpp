// 1F1B over model chunks in rounds of micro-batches.
#include "sim/plan/pipeline/rounds.hpp"

#include <algorithm>

namespace stepsim {
namespace {

/// The i-th pass of a direction: a round goes chunk by chunk.
Action pass(const PipelineShape& shape, int size, PassKind kind, int i) {
  const int round = size * shape.chunks;
  const int chunk = i % round / size;
  const int micro_batch = i / round * size + i % size;
  return {kind, micro_batch, kind == PassKind::forward ? chunk : shape.chunks - 1 - chunk};
}

}  // namespace

std::vector<Action> order_in_rounds(const PipelineShape& shape, int stage, int size) {
  const int total = shape.micro_batches * shape.chunks;
  const int ahead = shape.pairs ? 1 : 0;  // the two passes of a pair do not need each other
  const int warm_up =
      std::min(2 * (shape.stages - stage - 1) + (shape.chunks - 1) * size + ahead, total);
  std::vector<Action> actions;
  for (int i = 0; i < warm_up; ++i) actions.push_back(pass(shape, size, PassKind::forward, i));
  for (int i = 0; i < total - warm_up; ++i) {
    actions.push_back(pass(shape, size, PassKind::forward, warm_up + i));
    actions.push_back(pass(shape, size, PassKind::backward, i));
    actions.back().joined = shape.pairs;
  }
  for (int i = total - warm_up; i < total; ++i)
    actions.push_back(pass(shape, size, PassKind::backward, i));
  return actions;
}

}  // namespace stepsim
