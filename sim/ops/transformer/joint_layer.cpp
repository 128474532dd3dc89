// Layers of MMDiT and FLUX: two streams of tokens with weights of their own and one attention, and
// layers of one stream whose attention stands beside the MLP.
//
// Esser et al. 2024 (arXiv 2403.03206), figure 2; huggingface/diffusers
// src/diffusers/models/transformers/transformer_flux.py, FluxTransformerBlock and
// FluxSingleTransformerBlock. Queries, keys and values of both streams are joined before attention;
// behind it each stream has its part as a view.
#include <span>

#include "sim/ops/transformer/diffusion.hpp"
#include "sim/ops/transformer/transformer_layer.hpp"

namespace stepsim {
namespace {

Bytes projected(const Pass& pass, const AttentionShape& a) {
  const std::int64_t width = (a.heads + 2 * a.kv_heads) * a.head_dim;
  return Bytes{pass.element() * static_cast<double>(pass.tokens() * width)};
}

/// Names the ops from there on as those of the text.
void call_text(OpDag& dag, std::size_t begin) {
  for (Op& op : std::span(dag.ops).subspan(begin)) op.name = "text " + op.name;
}

}  // namespace

OpDag LayerStack::joint_layer(const LayerStack& text) const {
  OpDag dag;
  const AttentionShape shape = attention();
  const std::int64_t width = shape.heads * shape.head_dim;
  const auto heads_of = [&](const LayerStack& stack, Stream& stream) {
    const Vertex modulation = add_modulation(dag, stack.pass, stack.model, kPartVectors * 2);
    stream = stack.add_first_norm(dag, "attention", {modulation});
    return stack.add_projections(dag, stream.normed);
  };
  Stream own, other;
  Vertices both = heads_of(*this, own);
  std::size_t begin = dag.ops.size();
  const Vertices of_text = heads_of(text, other);
  call_text(dag, begin);
  both.insert(both.end(), of_text.begin(), of_text.end());
  Pass joint = pass;
  joint.sequence += text.pass.sequence;
  const Vertex joined = dag.add(joined_tensors("joined heads", projected(joint, shape)), both);
  const Vertex core = dag.add(core_attention(joint, shape), {joined});
  const auto add_rest = [&](const LayerStack& stack, const Stream& stream) {
    const Stream next =
        stack.add_part(dag, "attention", model.bias, stream, "mlp", [&](const Vertices&) {
          return Vertices{dag.add(
              row_linear(stack.pass, "projection", width, model.hidden, model.bias), {core})};
        });
    mark(dag, 0, GraphModule::attn);
    const std::size_t mlp = dag.ops.size();
    stack.add_mlp(dag, next, false);
    mark(dag, mlp, GraphModule::mlp);
  };
  add_rest(*this, own);
  begin = dag.ops.size();
  add_rest(text, other);
  call_text(dag, begin);
  return dag;
}

OpDag LayerStack::single_layer() const {
  OpDag dag;
  const AttentionShape shape = attention();
  const std::int64_t h = model.hidden, ffn = model.ffn / pass.tensor;
  const std::int64_t width = shape.heads * shape.head_dim;
  const std::int64_t heads = width + 2 * shape.kv_heads * shape.head_dim;
  const Vertex modulation = add_modulation(dag, pass, model, kPartVectors);
  const Stream stream = add_first_norm(dag, "attention", {modulation});
  add_part(dag, "attention", model.bias, stream, "", [&](const Vertices& normed) {
    const Vertex up =
        dag.add(column_linear(pass, "qkv and mlp up", h, heads + ffn, model.bias), normed);
    Vertices attended{up};
    if (model.qk_norm) attended = {dag.add(head_norm(pass, shape, model.wide_qk_norm), attended)};
    const Vertex core = dag.add(core_attention(pass, shape), attended);
    const Vertex middle = dag.add(activation(pass, ffn, false), {up});
    const Bytes all{pass.element() * static_cast<double>(pass.tokens() * (width + ffn))};
    const Vertex joined = dag.add(joined_tensors("attention and mlp", all), {core, middle});
    return Vertices{dag.add(row_linear(pass, "projection", width + ffn, h, model.bias), {joined})};
  });
  mark(dag, 0, GraphModule::attn);  // the MLP is no module of its own
  return dag;
}

}  // namespace stepsim
