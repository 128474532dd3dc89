// A transformer as blocks: what makes tokens of its input, layers, head.
//
// Decoder (GPT, Llama), encoder (BERT, ViT), or both (T5): embedding, encoder layers, the encoder's
// last norm with the embedding of the target sequence, decoder layers, head.
#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "sim/ops/blocks.hpp"
#include "sim/ops/frozen.hpp"
#include "sim/ops/transformer/diffusion.hpp"
#include "sim/ops/transformer/mtp.hpp"
#include "sim/ops/transformer/tower.hpp"
#include "sim/ops/transformer/transformer_heads.hpp"
#include "sim/ops/transformer/transformer_layer.hpp"

namespace stepsim {
namespace {

Block layer_block(const LayerStack& stack, const std::string& name, bool with_experts) {
  return layer_block(stack, name, stack.layer(with_experts));
}

/// Adds what the layers of a stack read: tokens, and the bias on their attention scores.
void add_tokens(OpDag& dag, const LayerStack& stack, Op tokens, const Vertices& inputs) {
  const Transformer& model = stack.model;
  Vertex last;
  if (model.post_norm) {
    last = dag.add(std::move(tokens), inputs);
    Op normed = stack.norm_of("embedding norm", model.hidden);
    if (model.dropout) add_dropout(normed, stack.pass, model.hidden);
    last = dag.add(std::move(normed), {last});
  } else {
    if (model.dropout) add_dropout(tokens, stack.pass, model.hidden);
    last = dag.add(std::move(tokens), inputs);
  }
  if (model.relative_positions == 0) return;
  dag.add(relative_positions(stack.pass, model.relative_positions, model.heads / stack.pass.tensor),
          {last});
}

PatchShape patches_of(const Transformer& model) {
  const Vision& v = *model.vision;
  return {.patches = v.patches(),
          .values = v.patch_values(),
          .hidden = model.hidden,
          .positions = model.positions};
}

Block embedding_block(const LayerStack& stack) {
  Block block{.name = "embedding"};
  add_tokens(block.dag, stack,
             stack.model.vision ? patch_embedding(stack.pass, patches_of(stack.model))
                                : embedding(stack.pass.carried(), stack.model),
             {});
  return block;
}

/// The embedding, and before it the tower of a model that has one.
void append_embedding(BlockChain& result, const Scenario& scenario, const LayerStack& stack) {
  Block block = embedding_block(stack);
  if (stack.model.tower) {
    append_tower(result, scenario, *stack.model.tower, stack.pass);
    add_images(block.dag, scenario, stack.pass);
  }
  const bool first = stack.lora != nullptr || !stack.model.tower;
  if (stack.pass.frozen) train_adapters_alone(block.dag, first);
  append(result, std::move(block));
}

/// Between the stacks: the encoder's output, which the decoder's layers share, and the embedding of
/// the target sequence with the weights of the source's.
Block between_block(const LayerStack& encoder, const LayerStack& decoder) {
  const std::int64_t h = encoder.model.hidden;
  Block block{
      .name = "encoder output", .dag = {}, .input = encoder.pass.carried().outer_activation(h)};
  Op output = encoder.norm_of("encoder norm", h, false);
  output.saved += encoder.pass.carried().outer_activation(h);  // the norm's output
  const Vertex last = block.dag.add(std::move(output), {});
  add_tokens(block.dag, decoder, share_weights(embedding(decoder.pass, decoder.model)), {last});
  return block;
}

std::int64_t leading_dense_layers(const Transformer& model) {
  return model.experts ? std::min(model.experts->dense_layers, model.layers) : 0;
}

/// Embedding and encoder of a model that has both; returns its decoder.
LayerStack append_encoder(BlockChain& result, const Scenario& scenario, const LayerStack& encoder) {
  append(result, embedding_block(encoder));
  append(result, layer_block(encoder, "encoder layer", false), encoder.model.encoder_layers);
  LayerStack decoder = encoder;
  decoder.causal = encoder.model.causal;
  decoder.pass.sequence = scenario.target_length();
  decoder.source_sequence = encoder.pass.sequence;
  append(result, between_block(encoder, decoder));
  return decoder;
}

/// Whether that layer's products stay in 16 bits beside quantised ones.
bool stays_in_bf16(const Pass& pass, const Transformer& model, std::int64_t layer) {
  const auto& kept = pass.training->bf16_layers;
  return kept && kept->has(layer, model.layers);
}

/// The stack as that layer has it; `prefix` becomes what its block is called beside others.
LayerStack stack_of(const LayerStack& stack, std::int64_t layer, std::string& prefix) {
  if (!stays_in_bf16(stack.pass, stack.model, layer)) return stack;
  prefix += "bf16 ";
  LayerStack own = stack;
  own.pass = unquantised(own.pass);
  return own;
}

/// The layers from `first` on, of which the leading ones may be dense, and some have a window.
void append_layers(BlockChain& result, LayerStack stack, std::int64_t first,
                   const std::string& name) {
  const Transformer& model = stack.model;
  const bool mixes = model.window && model.window->full_every > 0;
  std::map<std::string, std::size_t> known;
  for (std::int64_t layer = first; layer < model.layers; ++layer) {
    const bool is_dense = layer < leading_dense_layers(model);
    stack.narrow = model.window && model.window->narrows(layer);
    std::string kind;
    const LayerStack own = stack_of(stack, layer, kind);
    if (mixes && stack.narrow) kind += "window ";
    kind += is_dense ? "dense layer" : name;
    const auto [block, is_new] = known.try_emplace(kind, result.blocks.size());
    if (is_new) result.blocks.push_back(layer_block(own, kind, model.experts && !is_dense));
    result.chain.push_back(block->second);
  }
}

const char* name_of_part(char kind) {
  return kind == 'M'   ? "mamba"
         : kind == 'G' ? "delta net"
         : kind == '*' ? "attention"
         : kind == 'E' ? "expert"
                       : "mlp";
}

/// "delta net and expert layer".
std::string name_of_layer(std::string_view kinds) {
  std::string name;
  for (const char kind : kinds) {
    if (!name.empty()) name += " and ";
    name += name_of_part(kind);
  }
  return name + " layer";
}

/// The layers of a hybrid model, each of its parts. Windows are counted in layers (NVIDIA/Megatron-
/// LM megatron/core/extensions/transformer_engine.py, is_layer_window_attention of layer_number).
/// `begins`: layers up to the first one with an adapter are not like the others.
void append_hybrid(BlockChain& result, LayerStack stack, bool begins) {
  const Transformer& model = stack.model;
  const std::string_view pattern = model.hybrid->pattern;
  const auto parts = static_cast<std::size_t>(model.hybrid->parts);
  std::map<std::tuple<std::string, bool, bool>, std::size_t> known;
  for (std::size_t begin = 0; begin < pattern.size(); begin += parts) {
    const std::string_view kinds = pattern.substr(begin, parts);
    const bool attends = kinds.find('*') != std::string_view::npos;
    const auto layer = static_cast<std::int64_t>(begin / parts);
    stack.first = begins;
    stack.narrow = attends && model.window && model.window->narrows(layer);
    std::string name;
    const LayerStack own = stack_of(stack, layer, name);
    const std::string alike = name + std::string(kinds);
    const auto [block, is_new] =
        known.try_emplace({alike, stack.narrow, stack.first}, result.blocks.size());
    if (is_new) {
      const bool mixes = stack.narrow && model.window->full_every > 0;
      name += (stack.first ? "first " : mixes ? "window " : "") + name_of_layer(kinds);
      result.blocks.push_back(layer_block(own, name, own.hybrid_layer(kinds)));
    }
    result.chain.push_back(block->second);
    const OpDag& dag = result.blocks[block->second].dag;
    begins = begins && std::ranges::none_of(dag.ops, &Op::adapter);
  }
}

/// The first layer, where it is not like the others. Returns how many layers that is.
std::int64_t append_first_layer(BlockChain& result, const Scenario& scenario, LayerStack stack) {
  if (!begins_without_gradient(scenario.training)) return 0;
  const Transformer& model = stack.model;
  stack.first = true;
  stack.narrow = model.window && model.window->narrows(0);
  const bool has_experts = model.experts && leading_dense_layers(model) == 0;
  std::string name;
  const LayerStack own = stack_of(stack, 0, name);
  append(result, layer_block(own, name + "first layer", has_experts));
  return 1;
}

/// The layers of multi-token prediction, each with the embedding of a further token before it and
/// the head's weights behind it. A last stage has a copy of the embedding.
void append_mtp(BlockChain& result, const Scenario& scenario, const LayerStack& stack) {
  const bool owns_table = scenario.parallelism.pipeline.stages > 1;
  const std::size_t layer = result.blocks.size();
  for (const bool owns : {owns_table, false}) {
    Block block = mtp_layer_block(stack, owns);
    block.input = stack.pass.carried().outer_activation(stack.model.hidden);
    if (stack.pass.frozen) train_adapters_alone(block.dag, false);
    block.regions = recompute_regions(block);
    result.blocks.push_back(std::move(block));
    if (!owns) break;
    result.without_copy[layer] = layer + 1;
  }
  result.blocks.push_back(head_block(stack, false));
  result.blocks.back().name = "mtp head";
  if (stack.pass.frozen) train_adapters_alone(result.blocks.back().dag, false);
  for (std::int64_t depth = 0; depth < stack.model.mtp_layers; ++depth) {
    // One copy of the table is enough for all depths.
    result.chain.push_back(depth == 0 || !owns_table ? layer : layer + 1);
    result.chain.push_back(result.blocks.size() - 1);
  }
}

}  // namespace

void append(BlockChain& model, Block block, std::int64_t times) {
  if (times == 0) return;
  model.chain.insert(model.chain.end(), static_cast<std::size_t>(times), model.blocks.size());
  model.blocks.push_back(std::move(block));
}

bool shares_embedding(const Transformer& model) {
  return (model.tied_embeddings && model.has_words()) || model.mtp_layers > 0;
}

BlockChain transformer_blocks(const Scenario& scenario, const Transformer& model,
                              const Pass& pass) {
  const bool owns_weights = !model.tied_embeddings || scenario.parallelism.pipeline.stages > 1;
  const bool has_encoder = model.encoder_layers > 0;
  BlockChain result;
  const Training& training = scenario.training;
  const LayerStack first{model,
                         pass,
                         training.attention,
                         model.causal && !has_encoder,
                         0,
                         training.lora ? &*training.lora : nullptr};
  if (model.diffusion) return diffusion_blocks(first);
  if (!has_encoder) append_embedding(result, scenario, first);
  const LayerStack stack = has_encoder ? append_encoder(result, scenario, first) : first;
  if (model.hybrid) {
    append_hybrid(result, stack, begins_without_gradient(training));
  } else {
    const std::int64_t begins = append_first_layer(result, scenario, stack);
    append_layers(result, stack, begins, has_encoder ? "decoder layer" : "layer");
  }
  if (model.mtp_layers > 0) append_mtp(result, scenario, stack);
  append(result, head_block(stack, owns_weights));
  if (pass.frozen) train_adapters_alone(result.blocks.back().dag, false);
  const bool copies_embedding = model.tied_embeddings && model.has_words() && !pass.frozen;
  if (copies_embedding && scenario.parallelism.pipeline.stages > 1) {
    result.without_copy[result.chain.back()] = result.blocks.size();
    result.blocks.push_back(head_block(stack, false));
  }
  for (Block& block : result.blocks) {
    if (scenario.training.scan_layers && block.recomputable)
      add_scan_copies(block, scenario.training);
  }
  return result;
}

}  // namespace stepsim
