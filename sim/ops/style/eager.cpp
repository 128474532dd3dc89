// Eager PyTorch: one kernel an operation, with explicit casts, as in huggingface/transformers and
// in NVIDIA/Megatron-LM with its fusions switched off.
//
// LayerNorm is one kernel of PyTorch all the same. RMSNorm is a chain in fp32: a cast, the square,
// its mean, the scaling, a cast back and the weight (huggingface/transformers
// src/transformers/models/llama/modeling_llama.py, LlamaRMSNorm); backward what PyTorch's autograd
// makes of these. It keeps the input in fp32 and the scaled one.
//
// A gated activation is the activation of one half (2 tensors), a product (3), and backward two
// products (3 each), the activation's gradient (3) and the halves' gradients joined (4); the output
// of the activation is kept for the product (NVIDIA/Megatron-LM megatron/core/transformer/mlp.py
// without its fused path). A residual is the bias (2), dropout (2 and its mask) and the sum (3).
//
// For rotary positions each of queries and keys goes through the kernels of
// huggingface/transformers src/transformers/models/llama/modeling_llama.py, apply_rotary_pos_emb
// and rotate_half.
#include <array>

#include "sim/core/registry.hpp"
#include "sim/ops/style/kernels.hpp"

namespace stepsim {
namespace {

Launch pointwise(const NormShape& n, const char* step, double bytes_per_element) {
  return memory_bound(n.name + step, bytes_per_element * n.elements);
}

Launch small(const NormShape& n, const char* step) {
  return memory_bound(n.name + step, 8 * n.rows);  // fp32, one number a row
}

void add_norm_cast(Items& items, const Pass& pass, const NormShape& n) {
  if (pass.cast() > 0) items.emplace_back(pointwise(n, " cast", pass.cast()));
}

/// Bytes an element: fp32 tensors of 4, and the precision's own.
void rms_norm(Op& op, const Pass& pass, const NormShape& n) {
  const double e = pass.element();
  Items& f = op.forward;
  add_norm_cast(f, pass, n);
  f.emplace_back(pointwise(n, " square", 4 + 4));
  f.emplace_back(pointwise(n, " mean", 4));
  f.emplace_back(small(n, " epsilon"));
  f.emplace_back(small(n, " root"));
  f.emplace_back(pointwise(n, " scale", 4 + 4));
  add_norm_cast(f, pass, n);
  f.emplace_back(pointwise(n, " weight", 2 * e));

  Items& b = op.backward;
  b.emplace_back(pointwise(n, " weight backward", 2 * e));
  b.emplace_back(for_weights(pointwise(n, " weight gradient", 3 * e)));
  b.emplace_back(for_weights(pointwise(n, " weight gradient sum", e)));
  add_norm_cast(b, pass, n);
  b.emplace_back(pointwise(n, " scale backward", 4 + 4));
  b.emplace_back(pointwise(n, " scale backward", 8 + 4));
  b.emplace_back(pointwise(n, " scale sum", 4));
  // the cube of the root, scaled twice
  for (int i = 0; i < 3; ++i) b.emplace_back(small(n, " root backward"));
  b.emplace_back(pointwise(n, " mean backward", 4));
  b.emplace_back(pointwise(n, " square backward", 4 + 4));  // the power's
  b.emplace_back(pointwise(n, " square backward", 4 + 4));  // times two
  b.emplace_back(pointwise(n, " square backward", 8 + 4));
  b.emplace_back(pointwise(n, " gradient sum", 8 + 4));
  add_norm_cast(b, pass, n);
  op.saved = Bytes{(4 + e) * n.elements};
}

void eager_norm(Op& op, const Pass& pass, const NormShape& n) {
  n.rms ? rms_norm(op, pass, n) : library_norm(op, pass, n);
}

ActivationKernels eager_activation(const std::string& name, double one, bool gated) {
  if (!gated) return joined_activation(name, one, false);
  return {.forward = {memory_bound(name, 2 * one), memory_bound(name + " product", 3 * one)},
          .backward = {memory_bound(name + " product backward", 3 * one),
                       memory_bound(name + " product backward", 3 * one),
                       memory_bound(name + " backward", 3 * one),
                       memory_bound(name + " gradient concatenation", 4 * one)},
          .saved = Bytes{3 * one}};
}

// Tensors read and written. Forward: times the cosine (2), half of it negated (1), halves joined
// (2), times the sine (2), sum (3). Backward: times the cosine and the sine (2 each), half negated
// (1), each half into zeros (1 to clear, 1 to copy), the sum of both (3), and with the cosine's
// (3).
constexpr std::array kRotary{2.0, 1.0, 2.0, 2.0, 3.0};
constexpr std::array kRotaryBackward{2.0, 2.0, 1.0, 1.0, 1.0, 1.0, 1.0, 3.0, 3.0};

void eager_rotary(Items& items, const Pass& pass, const AttentionShape& a) {
  rotary_by_operations(items, pass, a, "rotary embedding", kRotary);
}

void eager_rotary_backward(Items& items, const Pass& pass, const AttentionShape& a) {
  rotary_by_operations(items, pass, a, "rotary embedding backward", kRotaryBackward);
}

const Registered<Style> eager_kernels{eager_style()};

}  // namespace

Style eager_style() {
  return {.name = "none",
          .description = "eager PyTorch: one kernel an operation, with explicit casts",
          .norm = eager_norm,
          .joins_bias_and_dropout = false,
          .activation = eager_activation,
          .dropout = library_dropout(),
          .softmax = softmax_by_operations,
          .row_softmax = library_row_softmax(),
          .rotary = eager_rotary,
          .rotary_backward = eager_rotary_backward,
          .loss = library_loss,
          .adds_bias_by_kernel = true,
          .strides_products = true,
          .modules = torch_modules(),
          .fuses_to = "fused",
          .compiles_to = "compiled"};
}

}  // namespace stepsim
