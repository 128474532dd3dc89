// Scaled dot-product attention: batched GEMMs with a masked softmax and dropout between them, or
// one fused kernel.
//
// PyTorch's batched GEMMs take one stride over sequences and heads, so that modules whose tensors
// are [batch, tokens, heads, dim] copy queries, keys and values to [batch, heads, tokens, dim], and
// the result back (aten/src/ATen/native/LinearAlgebra.cpp, matmul; Hugging Face's eager attention,
// transformers/models/bert/modeling_bert.py). Megatron-LM's are [tokens, batch, heads, dim], whose
// one stride needs no copy (megatron/core/transformer/dot_product_attention.py). XLA's products
// want sequences and heads in front as well.
//
// What Megatron-LM's products do beside: their result is [sequences, heads, tokens, dim] and is
// copied to where the projection reads it, and the scale of the scores, alpha of torch.baddbmm, is
// a product with the gradients of queries and of keys each (NVIDIA/Megatron-LM
// megatron/core/transformer/dot_product_attention.py, as megatron/model/transformer.py before;
// pytorch/pytorch tools/autograd/derivatives.yaml, baddbmm). The gradient of the copy is that of a
// view. ALiBi is what baddbmm adds to: one row a head, which is copied to all scores first
// (aten/src/ATen/native/cuda/Blas.cpp; bigscience-workshop/Megatron-DeepSpeed
// megatron/model/transformer.py); that the product reads them then is left out.
//
// Fused kernels of libraries take any stride over tokens, but Transformer Engine's module hands
// FlashAttention [batch, tokens, heads, dim] (transformer_engine/pytorch/attention.py,
// FlashAttention.forward), and Megatron Core hands the module that where rotary positions are fused
// (megatron/core/extensions/transformer_engine.py, TEDotProductAttention.forward). Rotary positions
// leave new tensors of queries and keys, which only moves values. With one sequence the result
// needs no move back, as either layout is the other. Before that, queries of heads that share keys
// lie between these and become one tensor (megatron/core/transformer/attention.py,
// get_query_key_value_tensors).
//
// Under a causal mask a fused kernel does half of the work; attention to all tokens, or to another
// sequence, has all of it. A bias on the scores (T5) is added by a kernel of its own, or inside the
// fused one; its gradient is the sum of the scores' over the batch, to which each layer adds.
//
// What is done to the scores beside the softmax is part of a fused kernel, or of a compiler's. Else
// each step is a kernel: a cap divides, takes the tanh and multiplies, and keeps the tanh
// (huggingface/transformers src/transformers/models/gemma2/modeling_gemma2.py,
// eager_attention_forward); a sink is one more column, so that the scores are copied beside it, and
// their gradient back (src/transformers/models/gpt_oss/modeling_gpt_oss.py).
#include <utility>

#include "sim/ops/layer/layers.hpp"
#include "sim/ops/style/style.hpp"

namespace stepsim {
namespace {

double query_bytes(const Pass& pass, const AttentionShape& a) {
  return pass.element() * static_cast<double>(pass.tokens()) *
         static_cast<double>(a.heads * a.head_dim);
}

double key_value_bytes(const Pass& pass, const AttentionShape& a) {
  return pass.element() * static_cast<double>(pass.batch * a.key_tokens(pass)) *
         static_cast<double>(a.kv_heads * (a.head_dim + a.values()));
}

double qkv_bytes(const Pass& pass, const AttentionShape& a) {
  return query_bytes(pass, a) + key_value_bytes(pass, a);
}

/// Reads the scores' gradient, writes its sum over the batch and adds that to the other layers'.
void add_bias_gradient(Items& items, const Pass& pass, const AttentionShape& a, bool inside) {
  const double scores = Scores(pass, a).one;
  const double bias = scores / static_cast<double>(pass.batch);
  if (!inside) items.emplace_back(memory_bound("position bias gradient", scores + bias));
  items.emplace_back(memory_bound("position bias gradient sum", 3 * bias));
}

/// Whether queries, keys, values and the result are copied from one layout to another.
bool moves_heads(const Pass& pass, const AttentionShape& a) {
  return a.kernel == kEagerAttention || pass.style->moves_heads;
}

/// Whether products are PyTorch's of Megatron-LM's layout, with what that does beside them.
bool has_strided_products(const Pass& pass, const AttentionShape& a) {
  return a.kernel == kUnfusedAttention && pass.style->strides_products;
}

/// The gradients of one projection become one tensor again before its backward: of all three, or of
/// keys and values where the queries come from another one. Those of a layer each stay where fused
/// or Megatron's attention leaves them; eager attention moves the heads back.
void lay_out_gradients(Items& items, const Pass& pass, const AttentionShape& a) {
  if (pass.style->fused_qkv) {
    const double joined = a.keys > 0 ? key_value_bytes(pass, a) : qkv_bytes(pass, a);
    items.emplace_back(memory_bound("qkv gradient concatenation", 2 * joined));
  } else if (!is_fused_attention(a.kernel) && moves_heads(pass, a)) {
    items.emplace_back(memory_bound("queries gradient to the back", 2 * query_bytes(pass, a)));
    // Keys and values are as wide, each with half of their bytes.
    const double each = key_value_bytes(pass, a) / 2;
    items.emplace_back(memory_bound("keys gradient to the back", 2 * each));
    items.emplace_back(memory_bound("values gradient to the back", 2 * each));
  }
}

/// Whether attention is Megatron Core's with Transformer Engine's module.
bool is_engine_attention(const Pass& pass, const AttentionShape& a) {
  return pass.style->puts_batch_first && a.keys == 0 && a.value_dim == 0;
}

bool is_batch_first(const AttentionShape& a) { return a.rotary || a.kernel.starts_with("flash"); }

void join_queries(Op& op, const Pass& pass, const AttentionShape& a) {
  if (is_engine_attention(pass, a) && a.kv_heads > 1 && a.heads > a.kv_heads)
    op.forward.emplace_back(memory_bound("queries joined", 2 * query_bytes(pass, a)));
}

void move_batch_to_front(Op& op, const Pass& pass, const AttentionShape& a) {
  if (!is_engine_attention(pass, a) || !is_batch_first(a)) return;
  const std::string name = a.rotary ? "values to the front" : "queries, keys, values to the front";
  const double moved = a.rotary ? key_value_bytes(pass, a) / 2 : qkv_bytes(pass, a);
  op.forward.emplace_back(memory_bound(name, 2 * moved));
  if (pass.batch > 1)
    op.backward.emplace_back(memory_bound("context gradient to the front", 2 * op.output.bytes()));
}

void move_batch_back(Op& op, const Pass& pass, const AttentionShape& a) {
  if (is_engine_attention(pass, a) && is_batch_first(a) && pass.batch > 1)
    op.forward.emplace_back(memory_bound("context to the back", 2 * op.output.bytes()));
}

/// The gradient of the scores' queries or keys, all heads of them, and its scale.
void add_scaled_gradient(Op& op, const Pass& pass, const AttentionShape& a, const char* whose,
                         const Launch& product, std::int64_t tokens) {
  op.backward.emplace_back(product);
  if (!has_strided_products(pass, a)) return;
  const double gradient = pass.element() * static_cast<double>(pass.batch * tokens) *
                          static_cast<double>(a.heads * a.head_dim);
  op.backward.emplace_back(memory_bound(std::string(whose) + " gradient scale", 2 * gradient));
}

void add_unfused(Op& op, const Pass& pass, const AttentionShape& a) {
  const std::int64_t s = pass.sequence;
  const std::int64_t k = a.key_tokens(pass);
  const std::int64_t batch = pass.batch * a.heads;
  const auto product = [&](const char* name, std::int64_t m, std::int64_t n, std::int64_t inner) {
    return gemm(name, pass, m, n, inner, false, batch);
  };
  // The gradients of queries, keys and values go back where those of the projection are laid out.
  const double context = 2 * op.output.bytes();
  if (moves_heads(pass, a)) {
    // Where heads share keys and values these are repeated on the way (repeat_kv).
    const double group = static_cast<double>(a.kv_heads) / static_cast<double>(a.heads);
    const double keys =
        pass.element() * static_cast<double>(pass.batch * a.key_tokens(pass) * a.heads);
    op.forward.emplace_back(memory_bound("queries to the front", 2 * query_bytes(pass, a)));
    op.forward.emplace_back(
        memory_bound("keys to the front", (1 + group) * keys * static_cast<double>(a.head_dim)));
    op.forward.emplace_back(
        memory_bound("values to the front", (1 + group) * keys * static_cast<double>(a.values())));
    op.backward.emplace_back(memory_bound("context gradient to the front", context));
  }
  if (a.alibi && !pass.style->joins_chains)
    op.forward.emplace_back(memory_bound("ALiBi to scores", Scores(pass, a).one));
  const double one = Scores(pass, a).one;
  const bool caps = a.score_cap && !pass.style->joins_chains;
  const bool copies = a.sinks && !pass.style->joins_chains;
  op.forward.emplace_back(product("scores", s, k, a.head_dim));
  if (caps) add_steps(op.forward, "scores cap", one, {2, 2, 2});
  if (copies) add_steps(op.forward, "scores beside sinks", one, {2});
  op.backward.emplace_back(product("context dgrad", s, k, a.values()));
  op.backward.emplace_back(product("values dgrad", k, a.values(), s));
  pass.style->softmax(op, pass, a);
  if (caps) op.saved_scores += Bytes{one};
  if (copies) add_steps(op.backward, "scores beside sinks backward", one, {2});
  if (caps) add_steps(op.backward, "scores cap backward", one, {2, 3, 2});
  op.forward.emplace_back(product("context", s, a.values(), k));
  if (moves_heads(pass, a) || has_strided_products(pass, a))
    op.forward.emplace_back(memory_bound("context to the back", context));
  if (a.bias) add_bias_gradient(op.backward, pass, a, false);
  add_scaled_gradient(op, pass, a, "queries", product("queries dgrad", s, a.head_dim, k), s);
  add_scaled_gradient(op, pass, a, "keys", product("keys dgrad", k, a.head_dim, s), k);
  // Gradients of the scores before and after dropout, or of softmax's output and input.
  op.scratch = Bytes{2 * one};
  op.saved = Bytes{qkv_bytes(pass, a)} + op.saved_scores;
}

/// The keys that a token sees, as conventions of FLOPs count them: all of its document, of which a
/// causal mask leaves half.
double keys_counted(const Pass& pass, const AttentionShape& a) {
  if (const PackedKeys packed = a.packed(pass); packed.document > 0) return packed.keys;
  const auto all = static_cast<double>(a.keys > 0 ? a.keys : pass.whole_sequence());
  const auto window = static_cast<double>(a.window);
  if (a.window == 0 || window >= all) return all;
  return a.chunks ? window : 2 * (window - window * window / (2 * all));
}

void add_fused(Op& op, const Pass& pass, const AttentionShape& a) {
  FusedAttention forward{a.kernel,      pass.batch, a.heads,    a.head_dim,
                         pass.sequence, false,      a.value_dim};
  forward.causal = a.causal;
  forward.keys = a.keys;
  forward.document = a.packed(pass).document;
  narrow(forward, a);
  FusedAttention backward = forward;
  backward.backward = true;
  if (pass.context.degree > 1) {
    add_context_attention(op, pass, a);
  } else {
    op.forward.emplace_back(Launch{"attention", forward});
    op.backward.emplace_back(Launch{"attention backward", backward});
    if (a.bias) add_bias_gradient(op.backward, pass, a, true);
  }
  // Queries, keys, values and the fp32 log-sum-exp of each row. The output is the next layer's
  // input.
  op.saved_scores = Bytes{4.0 * static_cast<double>(pass.tokens() * a.heads)};
  // Where heads are traded for parts of the sequence, attention keeps its output as it was before
  // the trade, beside the next layer's input (NVIDIA/TransformerEngine
  // transformer_engine/pytorch/attention, AttnFuncWithCPAndQKVOA2A).
  if (pass.context.degree > 1 && pass.context.kind == ContextKind::all_to_all)
    op.saved_scores +=
        Bytes{pass.element() * static_cast<double>(pass.tokens() * a.heads * a.values())};
  op.saved += Bytes{qkv_bytes(pass, a)} + op.saved_scores;
  // A frozen layer does not keep its input.
  const bool has_output = pass.context.degree > 1 && pass.context.kind == ContextKind::all_to_all;
  if (pass.frozen && !has_output) op.saved += op.output;
}

}  // namespace

void narrow(FusedAttention& attention, const AttentionShape& a) {
  if (a.window == 0 || a.window >= attention.key_tokens() || a.kernel == "flash1") return;
  if (a.chunks && attention.document > 0) return;  // its documents are the chunks
  if (!a.chunks) {
    attention.window = a.window;
    return;
  }
  attention.batch *= attention.sequence / a.window;
  attention.sequence = a.window;
}

Scores::Scores(const Pass& pass, const AttentionShape& a) {
  one = pass.element() * static_cast<double>(pass.batch * a.heads) *
        static_cast<double>(pass.sequence) * static_cast<double>(a.key_tokens(pass));
  elements = one / pass.element();
  rows = static_cast<double>(pass.batch * a.heads) * static_cast<double>(pass.sequence);
  bias = a.bias ? one / static_cast<double>(pass.batch) : 0;
  mask = a.dropout ? pass.style->dropout.mask_bytes(pass, elements) : 0;
  dropped = a.dropout ? one + mask : 0;
}

Op core_attention(const Pass& pass, const AttentionShape& a) {
  Op op;
  op.name = a.keys > 0 ? "cross attention" : "attention";
  op.core_attention = true;
  op.calls = pass.style->modules.attention(is_fused_attention(a.kernel),
                                           a.dropout && !pass.sequence_parallel);
  if (pass.style->engine_linears > 0 && a.keys == 0)
    op.calls.engine_layers = std::exchange(op.calls.layers, 0);
  op.output = Bytes{pass.element() * static_cast<double>(pass.tokens() * a.heads * a.values())};
  const bool copies = !is_fused_attention(a.kernel) && moves_heads(pass, a);
  join_queries(op, pass, a);
  // A compiler that copies heads turns them on the way.
  if (a.rotary && !(copies && pass.style->moves_heads)) pass.style->rotary(op.forward, pass, a);
  if (!is_fused_attention(a.kernel)) {
    add_unfused(op, pass, a);
  } else {
    move_batch_to_front(op, pass, a);
    add_fused(op, pass, a);
    move_batch_back(op, pass, a);
  }
  if (a.sinks) {
    op.parameters = {static_cast<double>(a.heads)};
    op.backward.emplace_back(GradientReady{op.parameters.front()});
  }
  if (a.rotary && pass.style->rotary_backward != nullptr)
    pass.style->rotary_backward(op.backward, pass, a);
  // Latent attention's have projections of their own, whose gradients are laid out there (mla.cpp).
  if (a.value_dim == 0) lay_out_gradients(op.backward, pass, a);
  op.flops = Flops{2.0 * static_cast<double>(pass.tokens() * a.heads) *
                   static_cast<double>(a.head_dim + a.values()) * keys_counted(pass, a)};
  return op;
}

}  // namespace stepsim
