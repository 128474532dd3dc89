// Token embedding: the vocabulary is split over tensor ranks, so that the rows found are summed
// over them.
//
// Sources: NVIDIA/Megatron-LM megatron/core/tensor_parallel/layers.py, VocabParallelEmbedding.
#include "sim/ops/layer/layers.hpp"

namespace stepsim {
namespace {

void add_collective(Items& items, const Pass& pass, CollectiveOp op, std::int64_t hidden) {
  if (pass.tensor == 1) return;
  items.emplace_back(StartCollective{op, pass.activation(hidden)});
  items.emplace_back(Join{});
}

}  // namespace

std::int64_t padded_vocabulary(std::int64_t vocabulary, std::int64_t tensor) {
  const std::int64_t unit = 128 * tensor;
  return tensor == 1 ? vocabulary : (vocabulary + unit - 1) / unit * unit;
}

Op embedding(const Pass& pass, const Transformer& model) {
  const std::int64_t h = model.hidden;
  const std::int64_t rows = padded_vocabulary(model.vocabulary, pass.tensor) / pass.tensor;
  const double all = pass.element() * static_cast<double>(pass.tokens() * h);
  const double outer = pass.element() * static_cast<double>(pass.outer_tokens() * h);
  const double mask = static_cast<double>(pass.outer_tokens() * h);  // one byte an element
  Op op;
  op.name = "embedding";
  op.parameters = {static_cast<double>(rows * h)};
  if (model.positions > 0) op.parameters.push_back(static_cast<double>(model.positions * h));
  op.forward.emplace_back(memory_bound("embedding lookup", 2 * all));
  if (pass.sequence_parallel) {
    add_collective(op.forward, pass, CollectiveOp::reduce_scatter, h);
  } else {
    add_collective(op.forward, pass, CollectiveOp::all_reduce, h);
  }
  if (model.positions > 0) op.forward.emplace_back(memory_bound("position embedding", 3 * outer));
  if (model.dropout) {
    op.forward.emplace_back(
        memory_bound("embedding dropout", 2 * outer + mask, MemoryRate::dropout));
    op.backward.emplace_back(
        memory_bound("embedding dropout backward", 2 * outer + mask, MemoryRate::dropout));
    op.saved = Bytes{mask};
  }
  if (pass.sequence_parallel) add_collective(op.backward, pass, CollectiveOp::all_gather, h);
  // A dense gradient: cleared, the rows of the batch added, then accumulated into the gradient
  // buffer.
  const double table = pass.element() * op.parameters.front();
  op.backward.emplace_back(for_weights(memory_bound("embedding gradient", 3 * all + 4 * table)));
  op.kept_for_weights = Bytes{all};
  for (const double tensor : op.parameters) op.backward.emplace_back(GradientReady{tensor});
  return op;
}

}  // namespace stepsim
