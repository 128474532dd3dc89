// A decoder-only transformer as blocks: embedding, layers, head.
#include <algorithm>
#include <variant>

#include "sim/ops/blocks.hpp"
#include "sim/ops/layer/layers.hpp"

namespace stepsim {
namespace {

using Vertex = OpDag::Vertex;

/// Adds `op` to the block after each of `inputs`.
Vertex add(OpDag& dag, Op op, std::initializer_list<Vertex> inputs) {
  return dag.add(std::move(op), inputs);
}

struct Layer {
  const Transformer& model;
  const Pass& pass;

  Op norm_of(const std::string& name, std::int64_t width) const {
    return norm(pass, name, width, model.rms_norm, model.bias);
  }

  AttentionShape attention(const std::string& kernel) const {
    const std::int64_t kv = std::max<std::int64_t>(model.kv_heads / pass.tensor, 1);
    return {
        model.heads / pass.tensor, kv, model.head_dim, model.positions == 0, model.dropout, kernel};
  }

  /// Key and value heads that fewer exist of than tensor ranks are computed on each rank that needs
  /// them, but count once as model FLOPs.
  Op query_key_value(const AttentionShape& shape) const {
    const std::int64_t width = (shape.heads + 2 * shape.kv_heads) * shape.head_dim;
    Op op = column_linear(pass, "qkv", model.hidden, width, model.bias || model.qkv_bias);
    const double kv = static_cast<double>(model.kv_heads) / static_cast<double>(pass.tensor);
    const auto heads = static_cast<double>(shape.heads);
    op.flops *= (heads + 2 * kv) / (heads + 2 * static_cast<double>(shape.kv_heads));
    return op;
  }

  /// Queries, keys and values from one projection; returns the core of attention.
  Vertex add_heads(OpDag& dag, Vertex input, const std::string& kernel) const {
    const AttentionShape shape = attention(kernel);
    Vertex heads = add(dag, query_key_value(shape), {input});
    if (model.qk_norm) heads = add(dag, head_norm(pass, shape), {heads});
    return add(dag, core_attention(pass, shape), {heads});
  }

  /// Queries, keys and values from their narrow layers (DeepSeek-V2, section 2.1).
  Vertex add_latent_heads(OpDag& dag, Vertex input, const std::string& kernel) const {
    const LatentAttention& a = *model.mla;
    const std::int64_t h = model.hidden;
    const std::int64_t heads = model.heads / pass.tensor;
    Vertex queries = input;
    if (a.query_rank > 0) {
      queries = add(dag, replicated_linear(pass, "query down", h, a.query_rank, true), {input});
      queries = add(dag, norm_of("query norm", a.query_rank), {queries});
    }
    queries = add(dag,
                  column_linear(pass, "query up", a.query_rank > 0 ? a.query_rank : h,
                                heads * a.key_dim(), false),
                  {queries});
    Vertex kv =
        add(dag, replicated_linear(pass, "kv down", h, a.kv_rank + a.rope_dim, false), {input});
    kv = add(dag, norm_of("kv norm", a.kv_rank), {kv});
    kv =
        add(dag, column_linear(pass, "kv up", a.kv_rank, heads * (a.nope_dim + a.value_dim), false),
            {kv});
    const Vertex joined = add(dag, latent_heads(pass, a, heads), {queries, kv});
    const AttentionShape shape{heads,         heads,  a.key_dim(), false,
                               model.dropout, kernel, a.value_dim};
    return add(dag, core_attention(pass, shape), {joined});
  }

  Vertex add_attention(OpDag& dag, const std::string& kernel) const {
    const std::int64_t h = model.hidden;
    const Vertex input = add(dag, norm_of("attention norm", h), {});
    const Vertex core =
        model.mla ? add_latent_heads(dag, input, kernel) : add_heads(dag, input, kernel);
    const std::int64_t width =
        model.heads / pass.tensor * (model.mla ? model.mla->value_dim : model.head_dim);
    const bool bias = model.bias && !model.mla;
    const Vertex out = add(dag, row_linear(pass, "projection", width, h, bias), {core});
    // The residual connection goes around all of it, from the layer's input.
    return add(dag, residual(pass, "attention residual", h, model.dropout, bias), {out, input});
  }

  /// Two linear layers with an activation between them; returns the last.
  Vertex add_linears(OpDag& dag, std::initializer_list<Vertex> inputs, const std::string& name,
                     std::int64_t width, bool bias) const {
    const std::int64_t h = model.hidden;
    const std::int64_t ffn = width / pass.tensor;
    const Vertex up = add(
        dag, column_linear(pass, name + " up", h, model.gated_mlp ? 2 * ffn : ffn, bias), inputs);
    const Vertex middle = add(dag, activation(pass, ffn, model.gated_mlp), {up});
    return add(dag, row_linear(pass, name + " down", ffn, h, bias), {middle});
  }

  /// Router, dispatch, grouped MLPs, combine, and the shared experts after them.
  Vertex add_experts(OpDag& dag, Vertex input) const {
    const Experts& e = *model.experts;
    const ExpertShape shape{model.hidden, e, model.gated_mlp};
    const Vertex routed = add(dag, router(pass, shape), {input});
    const Vertex dispatched = add(dag, dispatch(pass, shape), {routed});
    const Vertex computed = add(dag, expert_mlps(pass, shape), {dispatched});
    const Vertex combined = add(dag, combine(pass, shape), {computed});
    if (e.shared_ffn == 0) return combined;
    // The shared experts come after the routed ones, as without Megatron's overlap of the two.
    const Vertex shared = add_linears(dag, {combined, input}, "shared", e.shared_ffn, false);
    return add(dag, residual(pass, "shared experts sum", model.hidden, false, false), {shared});
  }

  Vertex add_mlp(OpDag& dag, Vertex input, bool with_experts) const {
    const std::int64_t h = model.hidden;
    const Vertex normed = add(dag, norm_of("mlp norm", h), {input});
    const Vertex out = with_experts ? add_experts(dag, normed)
                                    : add_linears(dag, {normed}, "mlp", model.ffn, model.bias);
    return add(dag, residual(pass, "mlp residual", h, model.dropout, model.bias), {out, input});
  }
};

Bytes block_input(const Pass& pass, std::int64_t hidden) {
  return Bytes{pass.element() * static_cast<double>(pass.outer_tokens() * hidden)};
}

Block layer_block(const Scenario& scenario, const Transformer& model, const Pass& pass,
                  const std::string& name, bool with_experts) {
  Block block{
      .name = name, .dag = {}, .input = block_input(pass, model.hidden), .recomputable = true};
  const Layer layer{model, pass};
  const Vertex attention = layer.add_attention(block.dag, scenario.training.attention);
  layer.add_mlp(block.dag, attention, with_experts);
  return block;
}

Block embedding_block(const Transformer& model, const Pass& pass) {
  Block block{.name = "embedding"};
  add(block.dag, embedding(pass, model), {});
  return block;
}

/// A head that shares the embedding's weights on the same rank owns none; its gradient is part of
/// theirs.
Op share_weights(Op op) {
  op.parameters.clear();
  std::erase_if(op.backward,
                [](const Item& item) { return std::holds_alternative<GradientReady>(item); });
  return op;
}

Block head_block(const Transformer& model, const Pass& pass, bool owns_weights) {
  Block block{.name = "head", .dag = {}, .input = block_input(pass, model.hidden)};
  const std::int64_t rows = padded_vocabulary(model.vocabulary, pass.tensor) / pass.tensor;
  const Vertex last =
      add(block.dag, norm(pass, "final norm", model.hidden, model.rms_norm, model.bias, false), {});
  Op projection = column_linear(pass, "logits", model.hidden, rows, false);
  if (!owns_weights) projection = share_weights(std::move(projection));
  const Vertex logits = add(block.dag, std::move(projection), {last});
  add(block.dag, output_head(pass, model), {logits});
  return block;
}

std::int64_t leading_dense_layers(const Transformer& model) {
  return model.experts ? std::min(model.experts->dense_layers, model.layers) : 0;
}

}  // namespace

std::vector<Block> transformer_blocks(const Scenario& scenario, const Transformer& model,
                                      const Pass& pass) {
  const bool owns_weights = !model.tied_embeddings || scenario.parallelism.pipeline.stages > 1;
  const bool experts = model.experts.has_value();
  std::vector<Block> blocks{embedding_block(model, pass)};
  if (leading_dense_layers(model) > 0)
    blocks.push_back(layer_block(scenario, model, pass, "dense layer", false));
  blocks.push_back(layer_block(scenario, model, pass, "layer", experts));
  blocks.push_back(head_block(model, pass, owns_weights));
  return blocks;
}

Block tied_head_block(const Transformer& model, const Pass& pass) {
  return head_block(model, pass, false);
}

std::vector<std::size_t> transformer_chain(const Transformer& model) {
  const std::int64_t dense = leading_dense_layers(model);
  const std::size_t layer = dense > 0 ? 2 : 1;
  std::vector<std::size_t> chain{0};
  chain.insert(chain.end(), static_cast<std::size_t>(dense), 1);
  chain.insert(chain.end(), static_cast<std::size_t>(model.layers - dense), layer);
  chain.push_back(layer + 1);
  return chain;
}

}  // namespace stepsim
