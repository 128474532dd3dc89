// The parts of a transformer layer, in the order in which they run.
#include "sim/ops/transformer/transformer_layer.hpp"

#include <algorithm>
#include <span>
#include <utility>

#include "sim/ops/blocks.hpp"
#include "sim/ops/frozen.hpp"
#include "sim/ops/layer/adapter.hpp"
#include "sim/ops/style/style.hpp"
#include "sim/ops/transformer/quantising_norm.hpp"

namespace stepsim {
namespace {

/// Whether linear layers of one input each cast it for themselves: autocast keeps copies of weights
/// alone, and a compiler sees that they are alike.
bool casts_input_again(const Pass& pass) { return pass.casts_weights && !pass.style->finds_twins; }

Launch input_cast(const Pass& pass, const std::string& name, std::int64_t hidden) {
  return memory_bound(name, pass.weight_cast() * static_cast<double>(pass.outer_tokens() * hidden));
}

/// A linear layer whose input is kept by another one already, unless each keeps what it gathered,
/// and to whose gradient it adds.
Op of_the_same_input(const Pass& pass, const std::string& name, std::int64_t hidden,
                     std::int64_t width, bool bias) {
  Op op = column_linear(pass, name, hidden, width, bias);
  const bool casts = casts_input_again(pass);
  if (casts) {
    op.forward.emplace(op.forward.begin(), input_cast(pass, name + " input cast", hidden));
    op.backward.emplace_back(input_cast(pass, name + " input gradient cast", hidden));
  } else if (!pass.gathers_each) {
    op.kept_for_weights -= op.saved;
    op.saved = op.saved_input = Bytes{0};
  }
  const std::int64_t tokens = pass.place.gathered ? pass.tokens() : pass.outer_tokens();
  const double element = casts ? pass.wide : pass.element();
  const double input = element * static_cast<double>(tokens * hidden);
  op.backward.emplace_back(memory_bound(name + " gradient sum", 3 * input));
  return op;
}

/// An adapter reads what the layer reads, and adds to what it hands on.
Vertex add_adapter(OpDag& dag, Op op, Vertices inputs, Vertex layer) {
  inputs.push_back(layer);
  return dag.add(std::move(op), inputs);
}

}  // namespace

void mark(OpDag& dag, std::size_t begin, GraphModule module) {
  for (Op& op : std::span(dag.ops).subspan(begin)) {
    if (!op.module) op.module = module;
  }
}

Op LayerStack::norm_of(const std::string& name, std::int64_t width, bool branches) const {
  return norm(pass, name, width, model.rms_norm, model.bias, branches);
}

bool LayerStack::adapts(LoraTarget target) const {
  return lora != nullptr && lora->targets(target);
}

/// The pass of a linear layer that may have an adapter.
Pass LayerStack::pass_at(LoraTarget target) const {
  Pass own = pass;
  own.place.adapted = adapts(target);
  return own;
}

/// Whether what these ops hand on has a gradient.
bool LayerStack::has_gradient(const OpDag& dag, const Vertices& ops) const {
  const std::vector<bool> behind = behind_adapters(dag);
  return !first ||
         std::ranges::any_of(ops, [&](Vertex op) { return behind[op] || dag.ops[op].adapter; });
}

/// A linear layer whose outputs are split, of this width on this rank, with its adapter.
/// `saves_input`: no other adapter keeps it.
Vertices LayerStack::add_column(OpDag& dag, const Vertices& inputs, Op op, LoraTarget target,
                                std::int64_t in, std::int64_t out, bool saves_input) const {
  const std::string name = op.name;
  const Vertex layer = dag.add(std::move(op), inputs);
  if (!adapts(target)) return {layer};
  const AdapterShape shape{name, in, out, has_gradient(dag, inputs), saves_input};
  return {add_adapter(dag, column_adapter(pass, *lora, shape), inputs, layer)};
}

/// Adds a linear layer whose inputs are split. `saves_input`: no other op keeps its input.
Vertices LayerStack::add_row(OpDag& dag, const Vertices& inputs, Op op, LoraTarget target,
                             std::int64_t in, bool saves_input) const {
  const std::string name = op.name;
  const Vertex layer = dag.add(std::move(op), inputs);
  if (!adapts(target)) return {layer};
  const AdapterShape shape{name, in, model.hidden, has_gradient(dag, inputs), saves_input};
  return {add_adapter(dag, row_adapter(pass, *lora, shape), inputs, layer)};
}

AttentionShape LayerStack::attention() const {
  AttentionShape shape;
  shape.heads = model.heads / pass.tensor;
  shape.kv_heads = std::max<std::int64_t>(model.kv_heads / pass.tensor, 1);
  shape.head_dim = model.head_dim;
  shape.rotary = model.rotary();
  shape.dropout = model.dropout;
  shape.kernel = kernel;
  shape.causal = causal;
  if (narrow) {
    shape.window = model.window->tokens;
    shape.chunks = model.window->kind == WindowKind::chunk;
  }
  shape.bias = model.relative_positions > 0;
  shape.alibi = model.alibi;
  shape.sinks = model.sinks;
  shape.yarn = model.has_yarn();
  shape.score_cap = model.score_cap;
  return shape;
}

/// Key and value heads that fewer exist of than tensor ranks are computed on each rank that needs
/// them, but count once as model FLOPs.
Op LayerStack::query_key_value(const AttentionShape& shape) const {
  const std::int64_t query_heads = (model.attention_gate ? 2 : 1) * shape.heads;
  const std::int64_t width = (query_heads + 2 * shape.kv_heads) * shape.head_dim;
  const bool bias = model.bias || model.qkv_bias;
  Op op = column_linear(pass_at(LoraTarget::linear_qkv), "qkv", model.hidden, width, bias);
  if (pass.training->muon_keys().split_qkv) {
    const std::int64_t queries = shape.heads * shape.head_dim;
    const std::int64_t keys = shape.kv_heads * shape.head_dim;
    op.matrices.front().parts = {queries, keys, keys};
    // Gates are made as queries are, and so are a matrix as they are.
    if (model.attention_gate) op.matrices.front().parts.push_back(queries);
  }
  const auto adds_bias_behind = pass.style->adds_qkv_bias_behind;
  const bool behind = adds_bias_behind != nullptr && adds_bias_behind(kernel);
  if (bias && behind) op.forward.emplace_back(memory_bound("qkv bias", 2 * op.output.bytes()));
  op.calls = pass.style->query_key_value_calls();
  const double kv = static_cast<double>(model.kv_heads) / static_cast<double>(pass.tensor);
  const auto heads = static_cast<double>(query_heads);
  op.flops *= (heads + 2 * kv) / (heads + 2 * static_cast<double>(shape.kv_heads));
  return op;
}

/// `body`, the residual sum, and the norm behind it: its own, or where norms come first that of the
/// part called `next`, if there is one in this layer.
LayerStack::Stream LayerStack::add_part(OpDag& dag, const std::string& name, bool bias,
                                        const Stream& stream, const std::string& next,
                                        const Body& body) const {
  const std::int64_t h = model.hidden;
  const std::string sum_name = name + " residual";
  const std::string norm_name = (model.post_norm ? name : next) + " norm";
  Vertices inputs = body(stream.normed);
  if (model.sandwich_norm) inputs = {dag.add(norm_of(name + " output norm", h, false), inputs)};
  if (modulates(name)) inputs = {dag.add(modulation_gate(pass, name + " gate", h), inputs)};
  // The residual connection goes around all of it.
  inputs.insert(inputs.end(), stream.sum.begin(), stream.sum.end());
  const bool has_norm = model.post_norm || !next.empty();
  if (has_norm && pass.style->joins_residual_and_norm && !modulates(next)) {
    const Vertex both = dag.add(residual_norm(pass, sum_name + ", " + norm_name, h, model.dropout,
                                              bias, model.rms_norm, model.bias),
                                inputs);
    return {{both}, {both}};
  }
  const Vertex sum = dag.add(residual(pass, sum_name, h, model.dropout, bias), inputs);
  if (!has_norm) return {{sum}, {sum}};
  if (model.post_norm) {
    const Vertex normed = dag.add(norm_of(norm_name, h), {sum});
    return {{normed}, {normed}};
  }
  return {add_norm(dag, next, {sum}), {sum}};
}

/// Whether vectors of each sample modulate that part: all but attention to text, whose norm has
/// weights.
bool LayerStack::modulates(const std::string& part) const {
  return model.diffusion && !part.empty() && part != "cross attention";
}

/// The norm before a part, and what modulates it; returns the last.
Vertices LayerStack::add_norm(OpDag& dag, const std::string& part, const Vertices& inputs) const {
  const std::string name = part + " norm";
  Op own = norm_of(name, model.hidden);
  if (!modulates(part)) return {dag.add(std::move(own), inputs)};
  const Vertex normed = dag.add(without_weights(std::move(own)), inputs);
  return {dag.add(modulate(pass, name + " modulation", model.hidden), {normed})};
}

/// The norm before a layer's first part, which its residual connection leaves.
LayerStack::Stream LayerStack::add_first_norm(OpDag& dag, const std::string& part,
                                              const Vertices& inputs) const {
  const Vertices normed = add_norm(dag, part, inputs);
  return {normed, normed};
}

/// Queries, keys and values from one projection, or from one each, with their norms.
Vertices LayerStack::add_projections(OpDag& dag, const Vertices& inputs) const {
  const AttentionShape shape = attention();
  const std::int64_t h = model.hidden;
  const std::int64_t attended = shape.heads * shape.head_dim;
  // Gates come beside queries.
  const std::int64_t queries = (model.attention_gate ? 2 : 1) * attended;
  const std::int64_t kv = shape.kv_heads * shape.head_dim;
  Vertices heads;
  if (pass.style->fused_qkv) {
    heads = add_column(dag, inputs, query_key_value(shape), LoraTarget::linear_qkv, h,
                       queries + 2 * kv);
  } else {
    const bool bias = model.bias || model.qkv_bias;
    Pass gathered = pass;
    gathered.place.gathered = !pass.gathers_each;
    bool saves_input = true;  // the first adapter, for all of them
    const auto add = [&](Op op, LoraTarget one, std::int64_t width) {
      const LoraTarget target = adapts(LoraTarget::linear_qkv) ? LoraTarget::linear_qkv : one;
      const Vertices added = add_column(dag, inputs, std::move(op), target, h, width, saves_input);
      saves_input &= !adapts(target) || pass.gathers_each;
      heads.insert(heads.end(), added.begin(), added.end());
    };
    add(column_linear(pass, "queries", h, queries, bias), LoraTarget::linear_q, queries);
    add(of_the_same_input(gathered, "keys", h, kv, bias), LoraTarget::linear_k, kv);
    add(of_the_same_input(gathered, "values", h, kv, bias), LoraTarget::linear_v, kv);
  }
  if (model.qk_norm) heads = {dag.add(head_norm(pass, shape, model.wide_qk_norm), heads)};
  return heads;
}

/// The core of attention behind its queries, keys and values.
Vertex LayerStack::add_heads(OpDag& dag, const Vertices& inputs) const {
  const AttentionShape shape = attention();
  const Vertex core = dag.add(core_attention(pass, shape), add_projections(dag, inputs));
  return model.attention_gate ? dag.add(attention_gate(pass, shape.heads * shape.head_dim), {core})
                              : core;
}

/// Queries, keys and values from their narrow layers (DeepSeek-V2, section 2.1).
Vertex LayerStack::add_latent_heads(OpDag& dag, const Vertices& inputs) const {
  const LatentAttention& a = *model.mla;
  const std::int64_t h = model.hidden;
  const std::int64_t heads = model.heads / pass.tensor;
  const bool narrows = a.query_rank > 0;
  Vertices queries = inputs;
  if (narrows) {
    queries = add_column(dag, inputs, replicated_linear(pass, "query down", h, a.query_rank, true),
                         LoraTarget::linear_q_down_proj, h, a.query_rank);
    queries = {dag.add(norm_of("query norm", a.query_rank), queries)};
  }
  const std::int64_t query_width = narrows ? a.query_rank : h;
  const LoraTarget up = narrows ? LoraTarget::linear_q_up_proj : LoraTarget::linear_q_proj;
  const std::int64_t all_queries = heads * a.key_dim();
  Vertices joined = add_column(
      dag, queries, column_linear(pass_at(up), "query up", query_width, all_queries, false), up,
      query_width, all_queries);
  // One adapter keeps what both layers of the same input read.
  const std::int64_t kv_width = a.kv_rank + a.rope_dim;
  const bool kept = adapts(narrows ? LoraTarget::linear_q_down_proj : LoraTarget::linear_q_proj);
  Vertices kv = add_column(dag, inputs, replicated_linear(pass, "kv down", h, kv_width, false),
                           LoraTarget::linear_kv_down_proj, h, kv_width, !kept);
  kv = {dag.add(norm_of("kv norm", a.kv_rank), kv)};
  const std::int64_t all_kv = heads * (a.nope_dim + a.value_dim);
  const Pass up_pass = pass_at(LoraTarget::linear_kv_up_proj);
  kv = add_column(dag, kv, column_linear(up_pass, "kv up", a.kv_rank, all_kv, false),
                  LoraTarget::linear_kv_up_proj, a.kv_rank, all_kv);
  joined.insert(joined.end(), kv.begin(), kv.end());
  const Vertex all_heads = dag.add(latent_heads(pass, a, heads), joined);
  AttentionShape shape = attention();
  shape.kv_heads = heads;
  shape.head_dim = a.key_dim();
  shape.value_dim = a.value_dim;
  return dag.add(core_attention(pass, shape), {all_heads});
}

LayerStack::Stream LayerStack::add_attention(OpDag& dag, const Stream& stream,
                                             const std::string& next) const {
  const bool bias = model.bias && !model.mla;
  return add_part(dag, "attention", bias, stream, next, [&](const Vertices& inputs) {
    const Vertex core = model.mla ? add_latent_heads(dag, inputs) : add_heads(dag, inputs);
    const std::int64_t width =
        model.heads / pass.tensor * (model.mla ? model.mla->value_dim : model.head_dim);
    return add_row(dag, {core}, row_linear(pass, "projection", width, model.hidden, bias),
                   LoraTarget::linear_proj, width, !is_fused_attention(kernel));
  });
}

/// Attention to an encoder's output (Vaswani et al. 2017, arXiv 1706.03762, section 3.2.3).
LayerStack::Stream LayerStack::add_cross_attention(OpDag& dag, const Stream& stream) const {
  return add_part(dag, "cross attention", model.bias, stream, "mlp", [&](const Vertices& normed) {
    AttentionShape shape = attention();
    shape.causal = shape.bias = shape.rotary = false;
    shape.keys = source_sequence;
    Pass source = pass, own = pass;
    source.sequence = source_sequence;
    if (model.diffusion) {
      // Each context rank has all of the text.
      own.context = source.context = {};
      source.sequence_parallel = false;
    }
    const auto repeats = static_cast<double>(pass.context.degree);
    const std::int64_t h = model.hidden;
    const std::int64_t queries = shape.heads * shape.head_dim;
    const std::int64_t kv = shape.kv_heads * shape.head_dim;
    const Vertex query =
        dag.add(column_linear(pass, "cross queries", h, queries, model.bias), normed);
    // The encoder's output is kept once for all layers, and each adds to its gradient.
    const auto of_source = [&](const std::string& name, std::int64_t width) {
      Op op = of_the_same_input(source, name, h, width, model.bias);
      op.flops = op.flops / repeats;
      return dag.add(std::move(op), {query});
    };
    Vertices heads = pass.style->fused_qkv
                         ? Vertices{of_source("source keys and values", 2 * kv)}
                         : Vertices{of_source("source keys", kv), of_source("source values", kv)};
    if (model.qk_norm) heads = {dag.add(head_norm(own, shape, model.wide_qk_norm), heads)};
    const Vertex core = dag.add(core_attention(own, shape), heads);
    return Vertices{dag.add(row_linear(pass, "cross projection", queries, h, model.bias), {core})};
  });
}

/// Two linear layers with an activation between them; returns the last.
Vertices LayerStack::add_linears(OpDag& dag, const Vertices& inputs, const std::string& name,
                                 std::int64_t width, bool bias) const {
  const std::int64_t h = model.hidden;
  const std::int64_t ffn = width / pass.tensor;
  const int layers = model.gated_mlp ? 2 : 1;
  Op linear =
      column_linear(pass_at(LoraTarget::linear_fc1), name + " up", h, layers * ffn, bias, layers);
  // Models that have queries, keys and values apart have the gate apart, too.
  if (model.gated_mlp && !pass.style->fused_qkv) linear.matrices.front().parts = {ffn, ffn};
  const Vertices up =
      add_column(dag, inputs, std::move(linear), LoraTarget::linear_fc1, h, layers * ffn);
  const Vertex middle = dag.add(activation(pass, ffn, model.gated_mlp), up);
  return add_row(dag, {middle}, row_linear(pass, name + " down", ffn, h, bias),
                 LoraTarget::linear_fc2, ffn, true);
}

/// One adapter for all experts of a rank beside each of their two layers: Megatron-Bridge's default
/// (NVIDIA-NeMo/Megatron-Bridge src/megatron/bridge/peft/lora.py, share_expert_adapters).
Vertex LayerStack::add_expert_adapters(OpDag& dag, const ExpertShape& shape, Vertex dispatched,
                                       Vertex experts) const {
  const std::int64_t ffn = shape.experts.ffn;
  const Pass rows = pass_of_rows(pass, shape);
  const bool own = dag[experts].expert;
  const auto add = [&](Op adapter, Vertex layer) {
    adapter.expert = own;
    for (Item& item : adapter.backward) {
      if (auto* ready = std::get_if<GradientReady>(&item)) ready->expert = own;
    }
    return add_adapter(dag, std::move(adapter), {dispatched}, layer);
  };
  const bool trained_before = has_gradient(dag, {dispatched});
  const bool up = adapts(LoraTarget::linear_fc1);
  if (up) {
    const AdapterShape own_shape{"experts up", shape.hidden, (shape.gated ? 2 : 1) * ffn,
                                 trained_before};
    experts = add(column_adapter(rows, *lora, own_shape), experts);
  }
  if (adapts(LoraTarget::linear_fc2)) {
    const AdapterShape own_shape{"experts down", ffn, shape.hidden, up || trained_before};
    experts = add(row_adapter(rows, *lora, own_shape), experts);
  }
  return experts;
}

/// Router, dispatch, grouped MLPs, combine, and the shared experts after them or beside exchanges.
Vertex LayerStack::add_experts(OpDag& dag, const Vertices& inputs) const {
  const Experts& e = *model.experts;
  const ExpertShape shape{model.hidden, e, model.gated_mlp};
  const Vertex routed = dag.add(router(pass, shape), inputs);
  dag[routed].module = GraphModule::moe_router;
  Op outward = dispatch(pass, shape);
  Op experts = expert_mlps(pass, shape);
  if (pass.experts.delay_wgrad) delay_wgrad(experts, outward);
  const Vertex dispatched = dag.add(std::move(outward), {routed});
  Vertex computed = dag.add(std::move(experts), {dispatched});
  computed = add_expert_adapters(dag, shape, dispatched, computed);
  const Vertex combined = dag.add(combine(pass, shape), {computed});
  if (e.shared_ffn == 0) return combined;
  Vertices both{combined};
  both.insert(both.end(), inputs.begin(), inputs.end());
  const std::size_t begin = dag.ops.size();
  Vertices shared = add_linears(dag, both, "shared", e.shared_ffn, false);
  const std::span<Op> linears = std::span(dag.ops).subspan(begin);
  for (Op& op : linears) op.module = GraphModule::moe_router;
  if (pass.experts.overlap_shared) overlap_shared(dag[dispatched], dag[combined], linears);
  if (e.shared_gate) shared = {dag.add(shared_gate(pass, model.hidden), shared)};
  return dag.add(residual(pass, "shared experts sum", model.hidden, false, false), shared);
}

void LayerStack::add_mlp(OpDag& dag, const Stream& stream, bool with_experts) const {
  // The experts add their biases themselves.
  const bool bias = model.bias && !(with_experts && model.experts->bias);
  add_part(dag, "mlp", bias, stream, "", [&](const Vertices& normed) {
    return with_experts ? Vertices{add_experts(dag, normed)}
                        : add_linears(dag, normed, "mlp", model.ffn, model.bias);
  });
}

OpDag LayerStack::layer(bool with_experts, OpDag before) const {
  OpDag dag = std::move(before);
  const std::size_t begin = dag.ops.size();
  const Vertices input = dag.ops.empty() ? Vertices{} : Vertices{dag.ops.size() - 1};
  Stream stream{input, input};
  if (!model.post_norm) stream = add_first_norm(dag, "attention", input);
  const bool crosses = source_sequence > 0;
  stream = add_attention(dag, stream, crosses ? "cross attention" : "mlp");
  if (crosses) stream = add_cross_attention(dag, stream);
  mark(dag, begin, GraphModule::attn);
  const std::size_t mlp = dag.ops.size();
  add_mlp(dag, stream, with_experts);
  mark(dag, mlp, with_experts ? GraphModule::moe : GraphModule::mlp);
  return dag;
}

Block layer_block(const LayerStack& stack, const std::string& name, OpDag dag) {
  if (!stack.model.post_norm) quantise_in_norms(dag, stack.pass);
  Block block{.name = name,
              .dag = std::move(dag),
              .input = stack.pass.carried().outer_activation(stack.model.hidden),
              .recomputable = true};
  if (stack.pass.frozen) train_adapters_alone(block.dag, stack.first);
  block.regions = recompute_regions(block);
  return block;
}

}  // namespace stepsim
