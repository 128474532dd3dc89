// The heads of transformers.
//
// BERT: Devlin et al. 2018 (arXiv 1810.04805), section 3.1; layers as in google-research/bert
// run_pretraining.py (get_masked_lm_output, get_next_sentence_output) and modeling.py (pooler).
// Only masked tokens go through the first, unless all are predicted as in NVIDIA/Megatron-LM
// megatron/core/models/bert/bert_model.py. ViT: Dosovitskiy et al. 2020 (arXiv 2010.11929), section
// 3.1, one linear layer on the class token. Layers of hidden width are whole on each tensor rank.
#include "sim/ops/transformer/transformer_heads.hpp"

#include <algorithm>
#include <cmath>

#include "sim/ops/style/style.hpp"

namespace stepsim {
namespace {

/// The first token of each sequence, as all tensor ranks have it.
Pass first_tokens(Pass pass) {
  pass.sequence = 1;
  pass.sequence_parallel = false;
  return pass;
}

/// Tokens of this rank for layers that are not split.
Pass own_tokens(Pass pass) {
  pass.batch = pass.outer_tokens();
  return first_tokens(pass);
}

std::int64_t predicted_tokens(const Pass& pass, double share) {
  const auto tokens =
      std::max<std::int64_t>(std::llround(share * static_cast<double>(pass.sequence)), 1);
  const std::int64_t unit = pass.sequence_parallel ? pass.tensor : 1;
  return (tokens + unit - 1) / unit * unit;
}

void add_logits(OpDag& dag, const LayerStack& stack, const Pass& pass, bool owns_weights, bool bias,
                const Vertices& inputs) {
  const Transformer& model = stack.model;
  const std::int64_t rows = vocabulary_rows(pass, model.vocabulary);
  if (takes_product_in(pass.style->cross_entropy)) {
    Op loss = fused_linear_loss(pass, model.hidden, rows);
    dag.add(owns_weights ? std::move(loss) : share_weights(std::move(loss)), inputs);
    return;
  }
  if (pass.training->loss_chunks > 1) {
    Op loss = chunked_loss(pass, model, rows);
    dag.add(owns_weights ? std::move(loss) : share_weights(std::move(loss)), inputs);
    return;
  }
  // Megatron-LM's own layer, whoever's the others are.
  Pass own = pass;
  own.place.keeps_placeholders = false;
  Op projection = column_linear(own, "logits", model.hidden, rows, bias);
  if (!owns_weights) projection = share_weights(std::move(projection));
  const Vertex logits = dag.add(std::move(projection), inputs);
  dag.add(output_head(pass, model), {logits});
}

/// A linear layer on one token of each sequence, and the loss of a few classes.
void add_classes(OpDag& dag, const LayerStack& stack, const std::string& name, std::int64_t classes,
                 const Vertices& inputs) {
  const Pass first = first_tokens(stack.pass);
  const Vertex logits =
      dag.add(replicated_linear(first, name, stack.model.hidden, classes, true, true), inputs);
  dag.add(class_loss(first, classes), {logits});
}

/// Masked tokens through a linear layer, an activation and a norm; then the embedding's weights.
void add_masked_tokens(OpDag& dag, const LayerStack& stack, bool owns_weights) {
  const Transformer& model = stack.model;
  const std::int64_t h = model.hidden;
  LayerStack predicted = stack;
  predicted.pass.sequence = predicted_tokens(stack.pass, model.masked->predicted);
  Vertices last;
  if (predicted.pass.sequence < stack.pass.sequence) {
    const std::int64_t mine =
        predicted.pass.sequence / (stack.pass.sequence_parallel ? stack.pass.tensor : 1);
    last = {dag.add(select_tokens(stack.pass, "masked tokens", h, mine), {})};
  }
  last = {dag.add(replicated_linear(predicted.pass, "transform", h, h, true, true), last)};
  last = {dag.add(activation(own_tokens(predicted.pass), h, false), last)};
  last = {dag.add(predicted.norm_of("transform norm", h, false), last)};
  add_logits(dag, stack, predicted.pass, owns_weights, true, last);
}

void add_next_sentence(OpDag& dag, const LayerStack& stack) {
  const std::int64_t h = stack.model.hidden;
  const Pass first = first_tokens(stack.pass);
  Vertex last = dag.add(select_tokens(stack.pass, "first tokens", h, 1), {});
  last = dag.add(replicated_linear(first, "pooler", h, h, true, true), {last});
  last = dag.add(activation(first, h, false), {last});
  add_classes(dag, stack, "next sentence", 2, {last});
}

}  // namespace

Op share_weights(Op op) {
  const double shared = op.parameters.front();
  op.parameters.erase(op.parameters.begin());
  const auto gradient = std::ranges::find_if(op.backward, [&](const Item& item) {
    const auto* ready = std::get_if<GradientReady>(&item);
    return ready != nullptr && ready->elements == shared;
  });
  op.backward.erase(gradient);
  return op;
}

Block head_block(const LayerStack& layers, bool owns_weights) {
  LayerStack stack = layers;
  stack.pass = unquantised(stack.pass);
  const Transformer& model = stack.model;
  const double input = stack.pass.carried().element() *
                       static_cast<double>(stack.pass.outer_tokens() * model.hidden);
  Block block{.name = "head", .dag = {}, .input = Bytes{input}};
  Vertices last;
  if (!model.post_norm)
    last = {block.dag.add(stack.norm_of("final norm", model.hidden, false), {})};
  if (model.vision) {
    last = {block.dag.add(select_tokens(stack.pass, "class tokens", model.hidden, 1), last)};
    add_classes(block.dag, stack, "classifier", model.vision->classes, last);
  } else if (model.masked) {
    add_masked_tokens(block.dag, stack, owns_weights);
    if (model.masked->next_sentence) add_next_sentence(block.dag, stack);
  } else {
    add_logits(block.dag, stack, stack.pass, owns_weights, false, last);
  }
  return block;
}

}  // namespace stepsim
