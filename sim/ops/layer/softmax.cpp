// From attention scores to what multiplies the values: bias, mask, softmax, dropout.
//
// Fused, the softmax is a kernel with its mask and dropout another one; a causal mask spares it the
// half of its inputs that it hides. Unfused, it is a cast to fp32, the mask, the softmax and a cast
// back, and keeps its fp32 output (NVIDIA/Megatron-LM megatron/core/fusions/fused_softmax.py,
// forward_torch_softmax). Compiled, all is one kernel that reads the scores whole. Eager attention
// scales the scores, adds the mask and takes the softmax in their own precision, each by a kernel
// (NVIDIA/DeepLearningExamples PyTorch/LanguageModeling/BERT/modeling.py, BertSelfAttention, and
// TensorFlow/LanguageModeling/BERT/modeling.py, attention_layer).
//
// XLA's kernels end at each reduction: forward one reads the scores for their largest, one for the
// sum of exponentials, and one for the result, with scale, mask and casts inside; backward one
// reads result and gradient for the sum of their products, one for the scores' gradient
// (google/praxis praxis/layers/attentions.py, jax.nn.softmax). Transformer Engine's softmax is
// Megatron-LM's.
//
// Megatron-LM's kernel wants a multiple of 4 sequences and heads together, and of 4 queries, in 16
// bits; other scores go the unfused way (fused_softmax.py, is_kernel_available; v2.2 and before:
// custom_kernel_constraint). The longest row that it takes, 2048 at first, grew with versions, and
// is not looked at. A mask that is filled in place has a gradient that is not: a copy, which is
// then filled (pytorch/pytorch aten/src/ATen/native/TensorAdvancedIndexing.cpp, masked_fill).
//
// PyTorch's softmax reads a row for its largest element, for the sum, and for the result (pytorch/
// pytorch aten/src/ATen/native/cuda/SoftMax.cu); of its gradient's kernel no times were found.
#include "sim/ops/layer/layers.hpp"

namespace stepsim {
namespace {

struct ScoreBytes {
  ScoreBytes(const Pass& pass, const AttentionShape& a) : one(score_bytes(pass, a)) {
    elements = one / pass.element();
    rows = static_cast<double>(pass.batch * a.heads) * static_cast<double>(pass.sequence);
    bias = a.bias ? one / static_cast<double>(pass.batch) : 0;
    mask = a.dropout ? mask_bytes(pass, elements) : 0;
    dropped = a.dropout ? one + mask : 0;
  }
  double one;       ///< the scores
  double elements;  ///< their number
  double rows;      ///< one a query and head
  double bias, mask;
  double dropped;  ///< what dropout writes
};

void add_compiled(Op& op, const ScoreBytes& s) {
  op.forward.emplace_back(
      memory_bound("softmax", 2 * s.one + s.bias + s.dropped, MemoryRate::softmax));
  op.backward.emplace_back(
      memory_bound("softmax backward", 3 * s.one + s.mask, MemoryRate::softmax));
  op.saved_scores = Bytes{s.one + s.dropped};
}

void add_reductions(Op& op, const ScoreBytes& s) {
  const auto kernel = [](const char* name, double bytes) {
    return memory_bound(name, bytes, MemoryRate::softmax);
  };
  op.forward.emplace_back(kernel("softmax maximum", s.one + s.bias));
  op.forward.emplace_back(kernel("softmax sum", s.one + s.bias));
  op.forward.emplace_back(kernel("softmax", 2 * s.one + s.bias + s.dropped));
  op.backward.emplace_back(kernel("softmax gradient sum", 2 * s.one + s.mask));
  op.backward.emplace_back(kernel("softmax backward", 3 * s.one + s.mask));
  op.saved_scores = Bytes{s.one + s.dropped};
}

void add_cast(Items& items, const Pass& pass, const ScoreBytes& s, const char* name) {
  if (pass.cast() > 0) items.emplace_back(memory_bound(name, pass.cast() * s.elements));
}

void add_chain(Op& op, const Pass& pass, const ScoreBytes& s) {
  add_cast(op.forward, pass, s, "scores cast");
  op.forward.emplace_back(memory_bound("scores mask", (4 + 4) * s.elements));
  op.forward.emplace_back(
      coming_back(memory_bound("softmax", (4 + 4) * s.elements, MemoryRate::softmax),
                  2 * 4 * s.elements, 4 * s.elements / s.rows));
  add_cast(op.forward, pass, s, "softmax cast");
  add_cast(op.backward, pass, s, "softmax cast backward");
  op.backward.emplace_back(
      memory_bound("softmax backward", (8 + 4) * s.elements, MemoryRate::softmax));
  op.backward.emplace_back(memory_bound("scores gradient copy", (4 + 4) * s.elements));
  op.backward.emplace_back(memory_bound("scores mask backward", (4 + 4) * s.elements));
  add_cast(op.backward, pass, s, "scores cast backward");
  // The fp32 output, and what multiplies the values where that is not the same tensor.
  const bool copies = pass.cast() > 0 && s.dropped == 0;
  op.saved_scores = Bytes{4 * s.elements + s.dropped + (copies ? s.one : 0)};
}

void add_eager(Op& op, const Pass& pass, const ScoreBytes& s) {
  op.forward.emplace_back(memory_bound("scores scale", 2 * s.one));
  op.forward.emplace_back(memory_bound("scores mask", 2 * s.one));
  const bool wide = pass.in_fp32(LayerPart::softmax);
  const double one = wide ? 4 * s.elements : s.one;
  if (wide) add_cast(op.forward, pass, s, "scores cast");
  const bool composed = pass.composes(ComposedOperation::softmax);
  if (composed) {
    append(op.forward, composed_softmax("softmax", one));
  } else {
    op.forward.emplace_back(
        coming_back(memory_bound("softmax", 2 * one, MemoryRate::softmax), 2 * one, one / s.rows));
  }
  if (wide) add_cast(op.forward, pass, s, "softmax cast");
  if (wide) add_cast(op.backward, pass, s, "softmax cast backward");
  if (composed) {
    append(op.backward, composed_softmax_backward("softmax", one));
  } else {
    op.backward.emplace_back(memory_bound("softmax backward", 3 * one, MemoryRate::softmax));
  }
  if (wide) add_cast(op.backward, pass, s, "scores cast backward");
  op.backward.emplace_back(memory_bound("scores scale backward", 2 * s.one));
  const bool copies = wide && s.dropped == 0;
  op.saved_scores = Bytes{one + s.dropped + (copies ? s.one : 0)};
}

/// Whether Megatron-LM has a kernel for scores of this shape.
bool has_kernel(const Pass& pass, const AttentionShape& a) {
  constexpr std::int64_t kUnit = 4;
  return pass.element() < 4 && pass.batch * a.heads % kUnit == 0 && pass.sequence % kUnit == 0;
}

void add_kernel(Op& op, const AttentionShape& a, const ScoreBytes& s) {
  const double read = a.causal ? 0.5 : 1;  // share of the inputs that the mask leaves
  op.forward.emplace_back(memory_bound("softmax", (read + 1) * s.one, MemoryRate::softmax));
  op.backward.emplace_back(
      memory_bound("softmax backward", (2 * read + 1) * s.one, MemoryRate::softmax));
  op.saved_scores = Bytes{s.one + s.dropped};
}

}  // namespace

void add_softmax(Op& op, const Pass& pass, const AttentionShape& a) {
  const ScoreBytes s(pass, a);
  if (pass.fusion == Fusion::compiled) return add_compiled(op, s);
  if (pass.reduces_by_xla()) return add_reductions(op, s);
  if (a.bias) op.forward.emplace_back(memory_bound("position bias", 2 * s.one + s.bias));
  if (a.dropout)
    append(op.backward, dropout_backward(pass, "attention dropout backward", s.elements));
  if (a.kernel == kEagerAttention && pass.fusion != Fusion::xla) {
    add_eager(op, pass, s);
  } else if (pass.fusion == Fusion::none ||
             (pass.fusion == Fusion::fused && !has_kernel(pass, a))) {
    add_chain(op, pass, s);
  } else {
    add_kernel(op, a, s);
  }
  if (a.dropout) append(op.forward, dropout_forward(pass, "attention dropout", s.elements));
}

}  // namespace stepsim
