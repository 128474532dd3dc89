// LayerNorm and RMSNorm.
//
// As one kernel: a read and a write forward; backward one for the input's gradient (the output's,
// the input, the result), one for the weights' (two reads), and the residual's addition (3).
// Compiled, that addition is part of the first; and a norm behind a residual sum shares a kernel
// with it: output and residual read, sum and normed written; backward the norm's gradient, the
// residual's and the sum read, and a gradient each written for the sum and for what dropout leaves
// of it. Unfused, LayerNorm is one kernel of PyTorch all the same, and RMSNorm is a chain in fp32:
// a cast, the square, its mean, the scaling, a cast back and the weight (huggingface/transformers
// src/transformers/models/llama/modeling_llama.py, LlamaRMSNorm); backward what PyTorch's autograd
// makes of these. It keeps the input in fp32 and the scaled one.
//
// XLA's kernels end at each reduction. Forward: the mean, with the sum that makes the input; the
// variance (1); the result (2). Backward: the gradient of the variance (2), that of the mean, which
// needs it (2), the input's (3, and the residual's), the weights' (2). RMSNorm has one reduction in
// each direction (google/praxis praxis/layers/normalizations.py).
//
// Eager kernels read a row for its mean and variance, and once more to scale it; the input's
// gradient comes back to both of its inputs (pytorch/pytorch
// aten/src/ATen/native/cuda/layer_norm_kernel.cu).
#include "sim/ops/layer/layers.hpp"

namespace stepsim {
namespace {

struct NormShape {
  std::string name;
  double elements;
  double rows;
};

Launch pointwise(const NormShape& n, const char* step, double bytes_per_element) {
  return memory_bound(n.name + step, bytes_per_element * n.elements);
}

Launch small(const NormShape& n, const char* step) {
  return memory_bound(n.name + step, 8 * n.rows);  // fp32, one number a row
}

void add_cast(Items& items, const Pass& pass, const NormShape& n) {
  if (pass.cast() > 0) items.emplace_back(pointwise(n, " cast", pass.cast()));
}

/// Bytes an element: fp32 tensors of 4, and the precision's own.
void add_chain(Op& op, const Pass& pass, const NormShape& n) {
  const double e = pass.element();
  Items& f = op.forward;
  add_cast(f, pass, n);
  f.emplace_back(pointwise(n, " square", 4 + 4));
  f.emplace_back(pointwise(n, " mean", 4));
  f.emplace_back(small(n, " epsilon"));
  f.emplace_back(small(n, " root"));
  f.emplace_back(pointwise(n, " scale", 4 + 4));
  add_cast(f, pass, n);
  f.emplace_back(pointwise(n, " weight", 2 * e));

  Items& b = op.backward;
  b.emplace_back(pointwise(n, " weight backward", 2 * e));
  b.emplace_back(for_weights(pointwise(n, " weight gradient", 3 * e)));
  b.emplace_back(for_weights(pointwise(n, " weight gradient sum", e)));
  add_cast(b, pass, n);
  b.emplace_back(pointwise(n, " scale backward", 4 + 4));
  b.emplace_back(pointwise(n, " scale backward", 8 + 4));
  b.emplace_back(pointwise(n, " scale sum", 4));
  for (int i = 0; i < 3; ++i) b.emplace_back(small(n, " root backward"));  // its cube, twice scaled
  b.emplace_back(pointwise(n, " mean backward", 4));
  b.emplace_back(pointwise(n, " square backward", 4 + 4));  // the power's
  b.emplace_back(pointwise(n, " square backward", 4 + 4));  // times two
  b.emplace_back(pointwise(n, " square backward", 8 + 4));
  b.emplace_back(pointwise(n, " gradient sum", 8 + 4));
  add_cast(b, pass, n);
  op.saved = Bytes{(4 + e) * n.elements};
}

/// A kernel for each reduction that needs the one before, and one behind them. The first one's is
/// the kernel that made the input, where XLA made that.
void add_reductions(Op& op, const NormShape& n, double one, bool rms, bool joins_residual,
                    bool behind_product) {
  const auto read = [&](const char* step, double tensors) {
    return memory_bound(n.name + step, tensors * one, MemoryRate::norm);
  };
  if (behind_product) op.forward.emplace_back(read(" first sum", 1));
  if (!rms) op.forward.emplace_back(read(" variance", 1));
  op.forward.emplace_back(read("", 2));
  op.backward.emplace_back(read(" dgrad sum", 2));
  if (!rms) op.backward.emplace_back(read(" dgrad mean", 2));
  op.backward.emplace_back(read(" dgrad", joins_residual ? 4 : 3));
  op.backward.emplace_back(for_weights(read(" wgrad", 2)));
  op.saved = Bytes{one};
}

void add_kernels(Op& op, const Pass& pass, const NormShape& n, bool rms, bool joins_residual,
                 bool behind_product = false) {
  const double one = pass.element() * n.elements;
  if (rms && pass.fusion == Fusion::none) return add_chain(op, pass, n);
  if (pass.composes(ComposedOperation::norm)) {
    op.forward = composed_norm(n.name, one);
    op.backward = composed_norm_backward(n.name, one);
    op.saved = Bytes{2 * one};  // the input, and what multiplies it
    return;
  }
  if (pass.reduces_by_xla()) return add_reductions(op, n, one, rms, joins_residual, behind_product);
  op.saved = Bytes{one};
  const Launch forward = memory_bound(n.name, 2 * one, MemoryRate::norm);
  const Launch dgrad =
      memory_bound(n.name + " dgrad", (joins_residual ? 4 : 3) * one, MemoryRate::norm);
  const bool eager = pass.fusion != Fusion::compiled;
  op.forward.emplace_back(eager ? coming_back(forward, one, one / n.rows) : forward);
  op.backward.emplace_back(eager ? coming_back(dgrad, 2 * one, 2 * one / n.rows) : dgrad);
  op.backward.emplace_back(for_weights(memory_bound(n.name + " wgrad", 2 * one, MemoryRate::norm)));
}

std::vector<double> weights(std::int64_t hidden, bool rms, bool bias) {
  return std::vector<double>(!rms && bias ? 2 : 1, static_cast<double>(hidden));
}

}  // namespace

Op norm(const Pass& pass, const std::string& name, std::int64_t hidden, bool rms, bool bias,
        bool branches) {
  const auto elements = static_cast<double>(pass.outer_tokens() * hidden);
  if (pass.in_fp32(LayerPart::norm)) {
    const double entering = pass.in_fp32(LayerPart::residual) ? 0 : elements;
    return between_casts(norm(pass.widened(), name, hidden, rms, bias, branches), pass, entering,
                         elements);
  }
  const double activation = pass.element() * elements;
  const bool joins = branches && (pass.fusion == Fusion::compiled || pass.reduces_by_xla());
  Op op;
  op.name = name;
  op.calls = norm_calls(pass.megatron);
  op.parameters = weights(hidden, rms, bias);
  op.output = Bytes{activation};
  op.kept_for_weights = Bytes{2 * activation};
  add_kernels(op, pass, {name, elements, static_cast<double>(pass.outer_tokens())}, rms, joins);
  if (branches && !joins)
    op.backward.emplace_back(memory_bound(name + " residual gradient", 3 * activation));
  for (const double tensor : op.parameters) op.backward.emplace_back(GradientReady{tensor});
  return op;
}

Op residual_norm(const Pass& pass, const std::string& name, std::int64_t hidden, bool dropout,
                 bool residual_bias, bool rms, bool norm_bias) {
  const auto elements = static_cast<double>(pass.outer_tokens() * hidden);
  const double one = pass.element() * elements;
  const double mask = dropout ? elements : 0;  // one byte an element
  Op op;
  op.name = name;
  op.parameters = weights(hidden, rms, norm_bias);
  op.forward.emplace_back(memory_bound(name, 4 * one + mask, MemoryRate::norm));
  op.backward.emplace_back(
      memory_bound(name + " dgrad", (dropout ? 5 : 4) * one + mask, MemoryRate::norm));
  op.backward.emplace_back(for_weights(memory_bound(name + " wgrad", 2 * one, MemoryRate::norm)));
  op.kept_for_weights = Bytes{2 * one};
  if (residual_bias) {
    op.backward.emplace_back(
        for_weights(memory_bound(name + " bias gradient", one, MemoryRate::norm)));
    op.kept_for_weights += Bytes{one};
  }
  for (const double tensor : op.parameters) op.backward.emplace_back(GradientReady{tensor});
  op.saved = Bytes{one + mask};
  op.output = Bytes{2 * one};  // the sum, and its norm
  return op;
}

Op head_norm(const Pass& pass, const AttentionShape& a) {
  const auto heads = static_cast<double>(pass.tokens() * (a.heads + a.kv_heads));
  const double elements = heads * static_cast<double>(a.head_dim);
  Op op;
  op.name = "head norm";
  op.calls = norm_calls(pass.megatron).times(2);
  op.parameters = {static_cast<double>(a.head_dim), static_cast<double>(a.head_dim)};
  add_kernels(op, pass, {op.name, elements, heads}, true, false, true);
  op.output = Bytes{pass.element() * elements};
  for (const double tensor : op.parameters) op.backward.emplace_back(GradientReady{tensor});
  return op;
}

}  // namespace stepsim
