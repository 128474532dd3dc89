// Scaled dot-product attention: batched GEMMs with a masked softmax and dropout, or one fused
// kernel.
#include "sim/ops/layer/layers.hpp"

namespace stepsim {
namespace {

/// The score matrix softmax(QK^T) of this rank, in bytes.
double scores(const Pass& pass, const AttentionShape& a) {
  return pass.element() * static_cast<double>(pass.batch * a.heads) *
         static_cast<double>(pass.sequence) * static_cast<double>(pass.sequence);
}

double qkv_bytes(const Pass& pass, const AttentionShape& a) {
  return pass.element() * static_cast<double>(pass.tokens()) *
         static_cast<double>(a.heads * a.head_dim + a.kv_heads * (a.head_dim + a.values()));
}

void add_unfused(Op& op, const Pass& pass, const AttentionShape& a) {
  const std::int64_t s = pass.sequence;
  const std::int64_t batch = pass.batch * a.heads;
  const double S = scores(pass, a);
  const double mask = S / pass.element();  // one byte an element
  const auto product = [&](const char* name, std::int64_t m, std::int64_t n, std::int64_t k) {
    return gemm(name, pass, m, n, k, false, batch);
  };
  op.forward.emplace_back(product("scores", s, s, a.head_dim));
  // The causal softmax reads the lower half of the scores and writes all of them.
  op.forward.emplace_back(memory_bound("softmax", 1.5 * S, MemoryRate::softmax));
  if (a.dropout) {
    op.forward.emplace_back(memory_bound("attention dropout", 2 * S + mask, MemoryRate::dropout));
  }
  op.forward.emplace_back(product("context", s, a.values(), s));

  op.backward.emplace_back(product("context dgrad", s, s, a.values()));
  op.backward.emplace_back(product("values dgrad", s, a.values(), s));
  if (a.dropout) {
    op.backward.emplace_back(
        memory_bound("attention dropout backward", 2 * S + mask, MemoryRate::dropout));
  }
  // Reads the lower halves of the gradient and of the output, writes all of the result.
  op.backward.emplace_back(memory_bound("softmax backward", 2 * S, MemoryRate::softmax));
  op.backward.emplace_back(product("queries dgrad", s, a.head_dim, s));
  op.backward.emplace_back(product("keys dgrad", s, a.head_dim, s));
  op.saved_scores = Bytes{S + (a.dropout ? S + mask : 0)};
  op.saved = Bytes{qkv_bytes(pass, a)} + op.saved_scores;
}

void add_fused(Op& op, const Pass& pass, const AttentionShape& a) {
  const FusedAttention forward{a.kernel,      pass.batch, a.heads,    a.head_dim,
                               pass.sequence, false,      a.value_dim};
  FusedAttention backward = forward;
  backward.backward = true;
  if (pass.context > 1) {
    add_context_attention(op, pass, a);
  } else {
    op.forward.emplace_back(Launch{"attention", forward});
    op.backward.emplace_back(Launch{"attention backward", backward});
  }
  // Queries, keys, values and the fp32 log-sum-exp of each row. The output is the next layer's
  // input.
  op.saved_scores = Bytes{4.0 * static_cast<double>(pass.tokens() * a.heads)};
  op.saved = Bytes{qkv_bytes(pass, a)} + op.saved_scores;
}

}  // namespace

Op core_attention(const Pass& pass, const AttentionShape& a) {
  Op op;
  op.name = "attention";
  op.core_attention = true;
  const double qkv = qkv_bytes(pass, a);
  const double rotated = qkv * static_cast<double>(a.heads + a.kv_heads) /
                         static_cast<double>(a.heads + 2 * a.kv_heads);
  if (a.rotary) op.forward.emplace_back(memory_bound("rotary embedding", 2 * rotated));
  if (a.kernel == "unfused") {
    add_unfused(op, pass, a);
  } else {
    add_fused(op, pass, a);
  }
  if (a.rotary) op.backward.emplace_back(memory_bound("rotary embedding backward", 2 * rotated));
  // The three gradients are laid out as one tensor again before the projection's backward.
  op.backward.emplace_back(memory_bound("qkv gradient concatenation", 2 * qkv));
  op.flops = Flops{2.0 * static_cast<double>(pass.tokens() * a.heads) *
                   static_cast<double>(a.head_dim + a.values()) *
                   static_cast<double>(pass.whole_sequence())};
  return op;
}

}  // namespace stepsim
