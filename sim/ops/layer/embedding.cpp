// Token embedding: the vocabulary is split over tensor ranks, so that the rows found are summed
// over them.
//
// Sources: NVIDIA/Megatron-LM megatron/core/tensor_parallel/layers.py, VocabParallelEmbedding;
// token types are looked up in a table of their own and added
// (megatron/core/models/common/embeddings/language_model_embedding.py). Where a compiler joins
// chains, lookups, sums and dropout are one kernel if no collective stands between them.
//
// As a product (google/praxis praxis/layers/embedding_softmax.py, lookup_style matmul): one-hot
// vectors are written and multiplied with the table, and with the gradients backward, for which
// they are kept.
#include "sim/ops/layer/layers.hpp"
#include "sim/ops/layer/tensor_collective.hpp"
#include "sim/ops/style/style.hpp"

namespace stepsim {
namespace {

void add_collective(Items& items, const Pass& pass, CollectiveOp op, std::int64_t hidden) {
  if (pass.tensor > 1) add_tensor_collective(items, op, pass.activation(hidden));
}

/// Whether the item is an element-wise kernel, which then also reads or writes that many bytes.
bool joins(Item& item, double bytes) {
  auto* launch = std::get_if<Launch>(&item);
  auto* kernel = launch == nullptr ? nullptr : std::get_if<MemoryBound>(&launch->work);
  if (kernel == nullptr) return false;
  kernel->bytes += Bytes{bytes};
  return true;
}

/// A table whose rows are found for so many tokens by a product.
struct OneHot {
  std::string name;
  std::int64_t tokens, rows, hidden;
  double vectors(const Pass& pass) const {
    return pass.element() * static_cast<double>(tokens * rows);
  }
};

void add_product(Op& op, const Pass& pass, const OneHot& table) {
  const double vectors = table.vectors(pass);
  op.forward.emplace_back(memory_bound(table.name + " one-hot", vectors));
  op.forward.emplace_back(
      gemm(table.name + " lookup", pass, table.tokens, table.hidden, table.rows));
  op.saved += Bytes{vectors};
  op.kept_for_weights += Bytes{vectors};
}

void add_gradient(Op& op, const Pass& pass, const OneHot& table) {
  op.backward.emplace_back(
      gemm(table.name + " wgrad", pass, table.rows, table.hidden, table.tokens, true));
  add_gradient_sum(op.backward, pass, table.name, static_cast<double>(table.rows * table.hidden));
}

}  // namespace

std::int64_t vocabulary_rows(const Pass& pass, std::int64_t vocabulary) {
  const std::int64_t unit = pass.vocabulary_multiple * pass.tensor;
  return (vocabulary + unit - 1) / unit * pass.vocabulary_multiple;
}

Op embedding(const Pass& pass, const Transformer& model) {
  const std::int64_t h = model.hidden;
  const std::int64_t rows = vocabulary_rows(pass, model.vocabulary);
  const double all = pass.element() * static_cast<double>(pass.tokens() * h);
  const double outer = pass.element() * static_cast<double>(pass.outer_tokens() * h);
  Op op;
  op.name = "embedding";
  op.parameters = {static_cast<double>(rows * h)};
  if (model.positions > 0) op.parameters.push_back(static_cast<double>(model.positions * h));
  const bool joins_chains = pass.style->joins_chains;
  const bool sums = !joins_chains || pass.tensor > 1;
  const bool by_index = !pass.style->looks_up_by_product;
  const OneHot tokens{"embedding", pass.tokens(), rows, h};
  const OneHot positions{"position embedding", pass.outer_tokens(), model.positions, h};
  op.kept_for_weights = Bytes{all};
  if (by_index) {
    op.forward.emplace_back(memory_bound("embedding lookup", 2 * all));
  } else {
    add_product(op, pass, tokens);
  }
  if (pass.sequence_parallel) {
    add_collective(op.forward, pass, CollectiveOp::reduce_scatter, h);
  } else {
    add_collective(op.forward, pass, CollectiveOp::all_reduce, h);
  }
  if (model.positions > 0 && !by_index) add_product(op, pass, positions);
  if (model.positions > 0 && sums)
    op.forward.emplace_back(memory_bound("position embedding", 3 * outer));
  if (model.token_types > 0) {
    op.parameters.push_back(static_cast<double>(model.token_types * h));
    // The lookup finds its few rows in cache.
    if (!joins_chains) {
      op.forward.emplace_back(memory_bound("token type lookup", outer));
      op.forward.emplace_back(memory_bound("token type embedding", 3 * outer));
    }
    op.backward.emplace_back(
        for_weights(memory_bound("token type gradient", outer, MemoryRate::norm)));
  }
  if (pass.sequence_parallel) add_collective(op.backward, pass, CollectiveOp::all_gather, h);
  if (by_index) {
    // A dense gradient: cleared, the rows of the batch added, then accumulated into the gradient
    // buffer.
    const double table = pass.element() * op.parameters.front();
    op.backward.emplace_back(for_weights(memory_bound("embedding gradient", 3 * all + 4 * table)));
    // A table that the head shares has one gradient, which is the head's.
    if (!model.tied_embeddings)
      add_gradient_passes(op.backward, pass, "embedding", op.parameters.front());
  } else {
    if (model.positions > 0) add_gradient(op, pass, positions);
    add_gradient(op, pass, tokens);
  }
  op.output = Bytes{outer};
  for (const double tensor : op.parameters) op.backward.emplace_back(GradientReady{tensor});
  return op;
}

void add_dropout(Op& op, const Pass& pass, std::int64_t hidden) {
  const auto elements = static_cast<double>(pass.outer_tokens() * hidden);
  const bool joins_chains = pass.style->joins_chains;
  const DropoutKernels& dropout = pass.style->dropout;
  op.saved += Bytes{dropout.mask_bytes(pass, elements)};
  if (!joins_chains || !joins(op.forward.back(), elements))
    append(op.forward, dropout.forward(pass, op.name + " dropout", elements));
  if (!joins_chains || !joins(op.backward.front(), elements)) {
    const Items first = dropout.backward(pass, op.name + " dropout backward", elements);
    op.backward.insert(op.backward.begin(), first.begin(), first.end());
  }
}

Op select_tokens(const Pass& pass, const std::string& name, std::int64_t hidden,
                 std::int64_t tokens) {
  const double one = pass.element() * static_cast<double>(hidden);
  const double selected = one * static_cast<double>(pass.batch * tokens);
  const double all = one * static_cast<double>(pass.outer_tokens());
  Op op;
  op.name = name;
  op.forward.emplace_back(memory_bound(name, 2 * selected));
  op.backward.emplace_back(memory_bound(name + " gradient", all + 2 * selected));
  op.output = Bytes{selected};
  return op;
}

}  // namespace stepsim
