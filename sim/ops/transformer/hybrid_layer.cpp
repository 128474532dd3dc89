// A layer of a hybrid: parts of the kinds that its pattern names, each behind a norm.
#include <utility>

#include "sim/ops/transformer/transformer_layer.hpp"

namespace stepsim {

/// A mixer of Mamba-2 between its linear layers.
Vertices LayerStack::add_mamba(OpDag& dag, const Vertices& inputs) const {
  const HybridLayers& m = *model.hybrid;
  const std::int64_t h = model.hidden, inner = m.heads * m.head_dim / pass.tensor;
  const std::int64_t width = mamba_input_width(pass, m);
  const Pass own = pass_at(LoraTarget::in_proj);
  const Vertices in = add_column(dag, inputs, column_linear(own, "mamba in", h, width, model.bias),
                                 LoraTarget::in_proj, h, width);
  const Vertex mixed = dag.add(mamba_mixer(pass, m), in);
  return add_row(dag, {mixed}, row_linear(pass, "mamba out", inner, h, model.bias),
                 LoraTarget::out_proj, inner, true);
}

/// A gated delta net between its linear layers, which have no biases. Narrow layers for decays and
/// gates read what the wide one reads, and are whole on each tensor rank.
Vertices LayerStack::add_delta_net(OpDag& dag, const Vertices& inputs) const {
  const GatedDeltaNet& d = *model.hybrid->delta_net;
  const std::int64_t h = model.hidden, values = d.value_width() / pass.tensor;
  const std::int64_t width = delta_net_input_width(pass, d);
  const Pass own = pass_at(LoraTarget::in_proj);
  Vertices made = add_column(dag, inputs, column_linear(own, "delta net in", h, width, false),
                             LoraTarget::in_proj, h, width);
  const auto add_narrow = [&](const std::string& name, std::int64_t out) {
    const Vertex down =
        dag.add(replicated_linear(pass, name + " down", h, d.gate_rank, false), inputs);
    made.push_back(dag.add(column_linear(pass, name + " up", d.gate_rank, out, false), {down}));
  };
  if (d.gate_rank > 0) {
    add_narrow("decays", d.key_width() / pass.tensor);
    add_narrow("gates", values);
  }
  const Vertex net = dag.add(gated_delta_net(pass, d), made);
  return add_row(dag, {net}, row_linear(pass, "delta net out", values, h, false),
                 LoraTarget::out_proj, values, true);
}

OpDag LayerStack::hybrid_layer(std::string_view kinds, OpDag before) const {
  OpDag dag = std::move(before);
  Vertices input;
  if (!dag.ops.empty()) input = {dag.ops.size() - 1};
  for (const char kind : kinds) {
    const std::size_t begin = dag.ops.size();
    const bool mixes = kind == 'M', nets = kind == 'G', attends = kind == '*';
    const std::string part = mixes ? "mamba" : nets ? "delta net" : attends ? "attention" : "mlp";
    const Vertex normed = dag.add(norm_of(part + " norm", model.hidden), input);
    const Stream stream{{normed}, {normed}};
    if (attends) {
      add_attention(dag, stream, "");
    } else if (mixes || nets) {
      add_part(dag, part, mixes && model.bias, stream, "", [&](const Vertices& inputs) {
        return mixes ? add_mamba(dag, inputs) : add_delta_net(dag, inputs);
      });
    } else {
      add_mlp(dag, stream, kind == 'E');
    }
    mark(dag, begin,
         attends || nets ? GraphModule::attn
         : mixes         ? GraphModule::mamba
         : kind == 'E'   ? GraphModule::moe
                         : GraphModule::mlp);
    input = {dag.ops.size() - 1};
  }
  return dag;
}

}  // namespace stepsim
