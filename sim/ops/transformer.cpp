// A decoder-only transformer as blocks: embedding, layers, head.
#include <algorithm>
#include <variant>

#include <boost/graph/adjacency_list.hpp>

#include "sim/ops/blocks.hpp"
#include "sim/ops/layer/layers.hpp"

namespace stepsim {
namespace {

using Vertex = OpDag::vertex_descriptor;

/// Adds `op` to the block after each of `inputs`.
Vertex add(OpDag& dag, Op op, std::initializer_list<Vertex> inputs) {
  const Vertex vertex = boost::add_vertex(std::move(op), dag);
  for (const Vertex input : inputs) boost::add_edge(input, vertex, dag);
  return vertex;
}

struct Layer {
  const Transformer& model;
  const Pass& pass;

  AttentionShape attention(const std::string& kernel) const {
    const std::int64_t kv = std::max<std::int64_t>(model.kv_heads / pass.tensor, 1);
    return {
        model.heads / pass.tensor, kv, model.head_dim, model.positions == 0, model.dropout, kernel};
  }

  /// Key and value heads that fewer exist of than tensor ranks are computed on each rank that needs
  /// them, but count once as model FLOPs.
  Op query_key_value(const AttentionShape& shape) const {
    const std::int64_t width = (shape.heads + 2 * shape.kv_heads) * shape.head_dim;
    Op op = column_linear(pass, "qkv", model.hidden, width, model.bias);
    const double kv = static_cast<double>(model.kv_heads) / static_cast<double>(pass.tensor);
    const auto heads = static_cast<double>(shape.heads);
    op.flops *= (heads + 2 * kv) / (heads + 2 * static_cast<double>(shape.kv_heads));
    return op;
  }

  Vertex add_attention(OpDag& dag, const std::string& kernel) const {
    const AttentionShape shape = attention(kernel);
    const std::int64_t h = model.hidden;
    const Vertex input = add(dag, norm(pass, "attention norm", h, model.rms_norm, model.bias), {});
    const Vertex in = add(dag, query_key_value(shape), {input});
    const Vertex core = add(dag, core_attention(pass, shape), {in});
    const Vertex out = add(
        dag, row_linear(pass, "projection", shape.heads * shape.head_dim, h, model.bias), {core});
    // The residual connection goes around all of it, from the layer's input.
    return add(dag, residual(pass, "attention residual", h, model.dropout, model.bias),
               {out, input});
  }

  Vertex add_mlp(OpDag& dag, Vertex input) const {
    const std::int64_t h = model.hidden;
    const std::int64_t ffn = model.ffn / pass.tensor;
    const Vertex normed = add(dag, norm(pass, "mlp norm", h, model.rms_norm, model.bias), {input});
    const Vertex up =
        add(dag, column_linear(pass, "mlp up", h, model.gated_mlp ? 2 * ffn : ffn, model.bias),
            {normed});
    const Vertex middle = add(dag, activation(pass, ffn, model.gated_mlp), {up});
    const Vertex down = add(dag, row_linear(pass, "mlp down", ffn, h, model.bias), {middle});
    return add(dag, residual(pass, "mlp residual", h, model.dropout, model.bias), {down, input});
  }
};

Bytes block_input(const Pass& pass, std::int64_t hidden) {
  return Bytes{pass.element() * static_cast<double>(pass.outer_tokens() * hidden)};
}

Block layer_block(const Scenario& scenario, const Transformer& model, const Pass& pass) {
  Block block{
      .name = "layer", .dag = {}, .input = block_input(pass, model.hidden), .recomputable = true};
  const Layer layer{model, pass};
  layer.add_mlp(block.dag, layer.add_attention(block.dag, scenario.training.attention));
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

}  // namespace

std::vector<Block> transformer_blocks(const Scenario& scenario, const Transformer& model,
                                      const Pass& pass) {
  const bool owns_weights = !model.tied_embeddings || scenario.parallelism.pipeline.stages > 1;
  return {embedding_block(model, pass), layer_block(scenario, model, pass),
          head_block(model, pass, owns_weights)};
}

double parameter_count(const Transformer& m) {
  const auto d = [](std::int64_t v) { return static_cast<double>(v); };
  const double qkv_width = d((m.heads + 2 * m.kv_heads) * m.head_dim);
  const double up_width = d(m.gated_mlp ? 2 * m.ffn : m.ffn);
  const double matrices = d(m.hidden) * (qkv_width + d(m.heads * m.head_dim) + up_width + d(m.ffn));
  const double biases = m.bias ? qkv_width + up_width + 2 * d(m.hidden) : 0;
  const double norm_size = d(m.hidden) * (!m.rms_norm && m.bias ? 2 : 1);
  const double embeddings = d(m.vocabulary * m.hidden) * (m.tied_embeddings ? 1 : 2);
  return d(m.layers) * (matrices + biases + 2 * norm_size) + embeddings +
         d(m.positions * m.hidden) + norm_size;
}

}  // namespace stepsim
