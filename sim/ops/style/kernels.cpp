// Norms, activations, dropout, softmax and rotary positions that several styles share.
#include "sim/ops/style/kernels.hpp"

namespace stepsim {
namespace {

Items dropped(const Pass& pass, const std::string& name, double elements) {
  constexpr double kMask = 1;
  return {memory_bound(name, (2 * pass.element() + kMask) * elements, MemoryRate::dropout)};
}

void add_cast(Items& items, const Pass& pass, const Scores& s, const char* name) {
  if (pass.cast() > 0) items.emplace_back(memory_bound(name, pass.cast() * s.elements));
}

void add_unfused(Op& op, const Pass& pass, const Scores& s) {
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

void add_eager(Op& op, const Pass& pass, const Scores& s) {
  const Pass own = pass.of(LayerPart::softmax);
  const bool casts = own.precision != pass.precision;
  const double one = own.element() * s.elements;
  op.forward.emplace_back(memory_bound("scores scale", 2 * s.one));
  op.forward.emplace_back(memory_bound("scores mask", 2 * s.one));
  if (casts) add_cast(op.forward, pass, s, "scores cast");
  append(op.forward, pass.style->row_softmax.forward(one, s.rows));
  if (casts) add_cast(op.forward, pass, s, "softmax cast");
  if (casts) add_cast(op.backward, pass, s, "softmax cast backward");
  append(op.backward, pass.style->row_softmax.backward(one));
  if (casts) add_cast(op.backward, pass, s, "scores cast backward");
  op.backward.emplace_back(memory_bound("scores scale backward", 2 * s.one));
  op.saved_scores = Bytes{one + s.dropped + (casts && s.dropped == 0 ? s.one : 0)};
}

/// The bias and dropout of attention, each a kernel, around what lies between them.
template <class Between>
void add_softmax(Op& op, const Pass& pass, const AttentionShape& a, const Between& between) {
  const Scores s(pass, a);
  if (a.bias) op.forward.emplace_back(memory_bound("position bias", 2 * s.one + s.bias));
  const DropoutKernels& dropout = pass.style->dropout;
  if (a.dropout)
    append(op.backward, dropout.backward(pass, "attention dropout backward", s.elements));
  between(s);
  if (a.dropout) append(op.forward, dropout.forward(pass, "attention dropout", s.elements));
}

double head_bytes(const Pass& pass, const AttentionShape& a) {
  return pass.element() * static_cast<double>(pass.tokens() * a.head_dim);
}

void add_rotary(Items& items, const Pass& pass, const AttentionShape& a, const char* name) {
  items.emplace_back(
      memory_bound(name, 2 * head_bytes(pass, a) * static_cast<double>(a.heads + a.kv_heads)));
}

}  // namespace

void library_norm(Op& op, const Pass& pass, const NormShape& n) {
  const double one = pass.element() * n.elements;
  op.saved = Bytes{one};
  op.forward.emplace_back(
      coming_back(memory_bound(n.name, 2 * one, MemoryRate::norm), one, one / n.rows));
  const double gradient = (n.joins_residual ? 4 : 3) * one;
  op.backward.emplace_back(coming_back(memory_bound(n.name + " dgrad", gradient, MemoryRate::norm),
                                       2 * one, 2 * one / n.rows));
  op.backward.emplace_back(for_weights(memory_bound(n.name + " wgrad", 2 * one, MemoryRate::norm)));
}

ActivationKernels joined_activation(const std::string& name, double one, bool gated) {
  // Reads the inputs, writes the output; reads the output's gradient and the inputs, writes theirs.
  const double inputs = gated ? 2 : 1;
  return {.forward = {memory_bound(name, (inputs + 1) * one)},
          .backward = {memory_bound(name + " backward", (1 + 2 * inputs) * one)},
          .saved = Bytes{inputs * one}};
}

DropoutKernels library_dropout() {
  return {dropped, dropped, [](const Pass& /*pass*/, double elements) { return elements; }};
}

RowSoftmax library_row_softmax() {
  return {[](double one, double rows) -> Items {
            return {coming_back(memory_bound("softmax", 2 * one, MemoryRate::softmax), 2 * one,
                                one / rows)};
          },
          [](double one) -> Items {
            return {memory_bound("softmax backward", 3 * one, MemoryRate::softmax)};
          }};
}

void softmax_by_operations(Op& op, const Pass& pass, const AttentionShape& a) {
  const bool eager = a.kernel == kEagerAttention;
  add_softmax(op, pass, a,
              [&](const Scores& s) { eager ? add_eager(op, pass, s) : add_unfused(op, pass, s); });
}

void softmax_by_kernel(Op& op, const Pass& pass, const AttentionShape& a) {
  const double read = a.causal ? 0.5 : 1;  // share of the inputs that the mask leaves
  add_softmax(op, pass, a, [&](const Scores& s) {
    op.forward.emplace_back(memory_bound("softmax", (read + 1) * s.one, MemoryRate::softmax));
    op.backward.emplace_back(
        memory_bound("softmax backward", (2 * read + 1) * s.one, MemoryRate::softmax));
    op.saved_scores = Bytes{s.one + s.dropped};
  });
}

void rotary_by_operations(Items& items, const Pass& pass, const AttentionShape& a, const char* name,
                          std::span<const double> tensors) {
  for (const std::int64_t heads : {a.heads, a.kv_heads}) {
    for (const double count : tensors)
      items.emplace_back(
          memory_bound(name, count * head_bytes(pass, a) * static_cast<double>(heads)));
  }
}

void joined_rotary(Items& items, const Pass& pass, const AttentionShape& a) {
  add_rotary(items, pass, a, "rotary embedding");
}

void joined_rotary_backward(Items& items, const Pass& pass, const AttentionShape& a) {
  add_rotary(items, pass, a, "rotary embedding backward");
}

}  // namespace stepsim
