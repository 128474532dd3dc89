// A diffusion transformer as blocks: latents and conditions, layers, head.
//
// DiT: Peebles and Xie 2022 (arXiv 2212.09748), section 3.2, facebookresearch/DiT models.py. Wan
// 2.1: Wan-Video/Wan2.1 wan/modules/model.py. FLUX: black-forest-labs/flux src/flux/model.py. The
// encoders of latents and text are not part of the step. The loss is the squared error of each
// patch. Vectors of a sample go through linear layers that every rank has whole.
#include "sim/ops/transformer/diffusion.hpp"

namespace stepsim {
namespace {

/// One row a sample, or so many tokens of text, which tensor and context ranks all have.
Pass of_samples(const Pass& pass, std::int64_t tokens = 1) {
  Pass own = unquantised(pass);
  own.sequence = tokens;
  own.sequence_parallel = false;
  own.context = {};
  return own;
}

/// Adds a linear layer on what each context rank has.
Vertex add_linear(OpDag& dag, const Pass& all, const Pass& pass, const std::string& name,
                  std::int64_t in, std::int64_t out, const Vertices& inputs) {
  Op op = replicated_linear(pass, name, in, out, true, true);
  op.flops = op.flops / static_cast<double>(all.context.degree);
  return dag.add(std::move(op), inputs);
}

/// Two linear layers with an activation between them.
Vertex add_mlp(OpDag& dag, const Pass& all, const Pass& pass, const std::string& name,
               std::int64_t in, std::int64_t hidden, const Vertices& inputs) {
  Vertex last = add_linear(dag, all, pass, name + " 1", in, hidden, inputs);
  last = dag.add(activation(pass, hidden, false), {last});
  return add_linear(dag, all, pass, name + " 2", hidden, hidden, {last});
}

/// The vector of each sample, and the text.
void add_conditions(OpDag& dag, const Pass& pass, const Transformer& model, Vertex last) {
  const Diffusion& d = *model.diffusion;
  const std::int64_t h = model.hidden;
  const Pass sample = of_samples(pass);
  const auto embed = [&](const std::string& name, std::int64_t in) {
    last = add_mlp(dag, pass, sample, name, in, h, {last});
  };
  embed("time", d.frequencies);
  if (d.guidance) embed("guidance", d.frequencies);
  if (d.pooled > 0) embed("pooled text", d.pooled);
  if (d.classes > 0) last = dag.add(modulation_table(sample, "classes", h, d.classes), {last});
  if (d.modulation == Modulation::shared) {
    last = dag.add(activation(sample, h, false), {last});
    last = add_linear(dag, pass, sample, "shared modulation", h, 2 * kPartVectors * h, {last});
  }
  if (!d.text) return;
  const Pass text = of_samples(pass, d.text->tokens);
  if (d.text->mlp) {
    add_mlp(dag, pass, text, "text embedding", d.text->width, h, {last});
  } else {
    add_linear(dag, pass, text, "text embedding", d.text->width, h, {last});
  }
}

Block first_block(const LayerStack& stack) {
  const Transformer& model = stack.model;
  const Diffusion& d = *model.diffusion;
  const Pass& pass = stack.pass;
  Block block{.name = "embedding"};
  Op patches = patch_embedding(pass, {.patches = pass.sequence,
                                      .values = d.patch_values(),
                                      .hidden = model.hidden,
                                      .class_token = false});
  if (!d.rotary) {
    const double one = pass.outer_activation(model.hidden).bytes();
    patches.forward.emplace_back(memory_bound("position embedding", 3 * one));
  }
  const Vertex last = block.dag.add(std::move(patches), {});
  add_conditions(block.dag, pass, model, last);
  return block;
}

/// A norm without weights, shift and scale, one linear layer, the loss of its outputs.
Block last_block(const LayerStack& stack) {
  const Transformer& model = stack.model;
  const Diffusion& d = *model.diffusion;
  const Pass pass = unquantised(stack.pass);
  Block block{.name = "head", .dag = {}, .input = pass.carried().outer_activation(model.hidden)};
  Vertex last = add_modulation(block.dag, pass, model, 2);
  last = block.dag.add(without_weights(stack.norm_of("final norm", model.hidden, false)), {last});
  last = block.dag.add(modulate(pass, "final norm modulation", model.hidden), {last});
  last = block.dag.add(
      replicated_linear(pass, "patch outputs", model.hidden, d.patch_outputs(), true, true),
      {last});
  Pass own = pass;
  own.batch = pass.outer_tokens();
  own.sequence = 1;
  block.dag.add(squared_error(own, d.patch_outputs()), {last});
  return block;
}

}  // namespace

Vertex add_modulation(OpDag& dag, const Pass& pass, const Transformer& model,
                      std::int64_t vectors) {
  const Pass sample = of_samples(pass);
  const std::int64_t h = model.hidden;
  if (model.diffusion->modulation == Modulation::shared)
    return dag.add(modulation_table(sample, "modulation table", vectors * h), {});
  Op condition = activation(sample, h, false);
  condition.name = "condition";
  const Vertex last = dag.add(std::move(condition), {});
  return add_linear(dag, pass, sample, "modulation", h, vectors * h, {last});
}

BlockChain diffusion_blocks(const LayerStack& first) {
  const Transformer& model = first.model;
  const Diffusion& d = *model.diffusion;
  BlockChain chain;
  append(chain, first_block(first));
  LayerStack stack = first;
  if (d.cross()) stack.source_sequence = d.text->tokens;
  if (!d.joint()) {
    OpDag modulation;
    add_modulation(modulation, stack.pass, model, 2 * kPartVectors);
    append(chain, layer_block(stack, "layer", stack.layer(false, std::move(modulation))),
           model.layers);
  } else {
    LayerStack text = stack, all = stack;
    text.pass.sequence = d.text->tokens;
    all.pass.sequence += d.text->tokens;
    Block joint = layer_block(stack, "joint layer", stack.joint_layer(text));
    joint.input += text.pass.carried().outer_activation(model.hidden);
    append(chain, std::move(joint), model.layers - d.text->single_layers);
    append(chain, layer_block(all, "single layer", all.single_layer()), d.text->single_layers);
  }
  append(chain, last_block(first));
  return chain;
}

double diffusion_parameters(const Transformer& m) {
  const Diffusion& d = *m.diffusion;
  const std::int64_t h = m.hidden;
  const auto linear = [](std::int64_t in, std::int64_t out) { return (in + 1) * out; };
  const auto embedding = [&](std::int64_t in) { return linear(in, h) + linear(h, h); };
  const bool shared = d.modulation == Modulation::shared;
  const auto modulation = [&](std::int64_t vectors) {
    return shared ? vectors * h : linear(h, vectors * h);
  };
  const std::int64_t queries = m.heads * m.head_dim, keys = m.kv_heads * m.head_dim;
  const std::int64_t bias = m.bias ? 1 : 0;
  const std::int64_t heads = (h + bias) * (queries + 2 * keys) + qk_norm_size(m);
  const std::int64_t attention = heads + (queries + bias) * h;
  const std::int64_t ups = m.gated_mlp ? 2 : 1;
  const std::int64_t mlp = (h + bias) * ups * m.ffn + (m.ffn + bias) * h;
  const std::int64_t layer = attention + mlp + modulation(2 * kPartVectors);
  std::int64_t sum = linear(d.patch_values(), h) + embedding(d.frequencies) * (d.guidance ? 2 : 1) +
                     (d.pooled > 0 ? embedding(d.pooled) : 0) + d.classes * h + modulation(2) +
                     linear(h, d.patch_outputs()) + (shared ? linear(h, 2 * kPartVectors * h) : 0);
  if (!d.text) return static_cast<double>(sum + m.layers * layer);
  sum += d.text->mlp ? embedding(d.text->width) : linear(d.text->width, h);
  const std::int64_t norm = m.rms_norm || !m.bias ? h : 2 * h;
  if (d.cross()) return static_cast<double>(sum + m.layers * (layer + attention + norm));
  const std::int64_t single =
      heads + (h + bias) * m.ffn + (queries + m.ffn + bias) * h + modulation(kPartVectors);
  return static_cast<double>(sum + (m.layers - d.text->single_layers) * 2 * layer +
                             d.text->single_layers * single);
}

}  // namespace stepsim
