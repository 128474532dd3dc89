// A vision tower as blocks: patches, layers, projector.
//
// Huggingface/transformers src/transformers/models/qwen2_5_vl/modeling_qwen2_5_vl.py
// (Qwen2_5_VisionTransformerPretrainedModel), gemma3/modeling_gemma3.py
// (Gemma3MultiModalProjector), llava/modeling_llava.py and llama4/modeling_llama4.py. Attention is
// of the patches of one image. Each context rank runs the tower for whole images, and each tensor
// rank all of it, unless the tower is split: NVIDIA-NeMo/Megatron-Bridge
// src/megatron/bridge/models/qwen_vl/modeling_qwen25_vl.py has Hugging Face's tower on each rank,
// modelling_qwen3_vl/vision_model.py Megatron-LM's layers. Work that ranks repeat counts once as
// model FLOPs.
#include "sim/ops/transformer/tower.hpp"

#include "sim/ops/frozen.hpp"
#include "sim/ops/transformer/transformer_layer.hpp"

namespace stepsim {
namespace {

/// The tower's layers as those of a transformer.
Transformer layers_of(const VisionTower& v) {
  Transformer t;
  t.layers = v.layers;
  t.hidden = v.hidden;
  t.heads = t.kv_heads = v.heads;
  t.head_dim = v.hidden / v.heads;
  t.ffn = v.ffn;
  t.positions = v.rotary ? 0 : 1;  // what matters of them is whether they are rotary
  t.causal = t.dropout = false;
  t.gated_mlp = v.gated_mlp;
  t.rms_norm = v.rms_norm;
  t.bias = v.bias;
  t.window = v.window;
  return t;
}

/// Sum of the squares of the lengths of a side's pieces, each of `edge` but the last.
double squared_pieces(std::int64_t side, std::int64_t edge) {
  const std::int64_t rest = side % edge;
  return static_cast<double>(side / edge * edge * edge + rest * rest);
}

/// How far patches see in windows, which are squares and end with their image, so that those at its
/// edges have fewer (huggingface/transformers src/transformers/models/qwen2_5_vl/
/// modeling_qwen2_5_vl.py, get_window_index, which pads the image and leaves the padding out).
/// Nothing where there are none or layers count their windows themselves.
PackedKeys keys_in_windows(const VisionTower& tower, const ImageTokens& image) {
  if (!tower.window || tower.window->kind != WindowKind::chunk) return {};
  const std::int64_t edge = tower.window->edge();
  const double pairs = squared_pieces(image.height / tower.patch, edge) *
                       squared_pieces(image.width / tower.patch, edge);
  const double mean = pairs / static_cast<double>(image.patches);
  return {.keys = mean, .document = mean};
}

class Tower {
 public:
  Tower(const Scenario& scenario, const VisionTower& tower, const Pass& decoder)
      : scenario_(scenario),
        tower_(tower),
        image_(*scenario.image_tokens()),
        layers_(layers_of(tower)),
        stack_{layers_, pass_of_images(decoder), scenario.training.attention, false, 0, nullptr},
        trained_(scenario.training.trains(TowerPart::tower)) {
    const double tensor = stack_.pass.tensor == 1 ? static_cast<double>(decoder.tensor) : 1;
    repeats_ = tensor * decoder.context.degree;
    stack_.first = true;
    stack_.pass.frozen = !trained_;
  }

  void append_to(BlockChain& chain) const {
    append(chain, patches());
    std::optional<std::size_t> known[2];
    for (std::int64_t layer = 0; layer < tower_.layers; ++layer) {
      const bool narrow = tower_.window && tower_.window->narrows(layer);
      std::optional<std::size_t>& block = known[narrow ? 1 : 0];
      if (!block) {
        block = chain.blocks.size();
        chain.blocks.push_back(layer_of(narrow));
      }
      chain.chain.push_back(*block);
    }
    append(chain, projector());
  }

 private:
  Pass pass_of_images(Pass pass) const {
    pass.batch *= scenario_.training.images->per_sequence;
    pass.sequence = image_.tokens;
    pass.packed = {};  // documents are of words
    pass.packed_in_windows = keys_in_windows(tower_, image_);
    pass.context = {};
    if (!scenario_.parallelism.split_tower) pass.tensor = 1;
    pass.sequence_parallel = pass.copies_shards = pass.gathers_each = false;
    pass.split_products = SplitProducts::none;
    pass.linear = pass.precision;
    return pass;
  }

  /// `ranks`: tensor ranks that do the same work though the tower is split.
  Block finished(Block block, std::int64_t ranks = 1) const {
    block.place = BlockPlace::front;
    for (Op& op : block.dag.ops) op.flops = op.flops / (repeats_ * static_cast<double>(ranks));
    block.regions = block.recomputable ? recompute_regions(block) : block.regions;
    return block;
  }

  Block patches() const {
    Block block{.name = "image patches"};
    Vertex last = block.dag.add(patch_embedding(stack_.pass, {.patches = image_.patches,
                                                              .values = tower_.patch_values(),
                                                              .hidden = tower_.hidden,
                                                              .positions = tower_.positions,
                                                              .bias = tower_.patch_bias,
                                                              .class_token = tower_.class_token}),
                                {});
    if (tower_.input_norm)
      last = block.dag.add(stack_.norm_of("tower input norm", tower_.hidden, false), {last});
    if (!trained_) train_adapters_alone(block.dag, true);
    return finished(std::move(block));
  }

  Block layer_of(bool narrow) const {
    LayerStack stack = stack_;
    stack.narrow = narrow;
    const bool mixes = tower_.window && tower_.window->full_every > 0;
    const std::string name = mixes && narrow ? "window tower layer" : "tower layer";
    return finished(layer_block(stack, name, stack.layer(false)));
  }

  /// Norms of the tower's output and before the projector, merged patches, linear layers.
  Block projector() const {
    const bool trained = scenario_.training.trains(TowerPart::projector);
    const bool averages = tower_.merging == PatchMerging::average;
    Block block{.name = "projector",
                .dag = {},
                .input = stack_.pass.carried().outer_activation(tower_.hidden)};
    OpDag of_tower, of_projector;
    if (tower_.output_norm) of_tower.add(stack_.norm_of("tower norm", tower_.hidden, false), {});
    if (!trained_) train_adapters_alone(of_tower, true);
    Pass pass = stack_.pass;
    pass.frozen = !trained;
    const auto add = [&](Op op) {
      of_projector.add(std::move(op), of_projector.ops.empty()
                                          ? Vertices{}
                                          : Vertices{of_projector.ops.size() - 1});
    };
    Pass merged = pass;
    merged.tensor = 1;
    merged.sequence = image_.merged;
    const auto add_norm = [&](const Pass& where) {
      if (tower_.projector_norm == ProjectorNorm::none) return;
      add(norm(where, "projector norm", tower_.hidden, tower_.projector_norm == ProjectorNorm::rms,
               true, false));
    };
    if (!averages) add_norm(pass);
    if (tower_.merge > 1 || tower_.class_token) add(merge_patches(pass, tower_, image_.merged));
    if (averages) add_norm(merged);
    add_linears(add, merged);
    if (!trained) train_adapters_alone(of_projector, !trained_);
    if (trained && !trained_) drop_input_gradient(of_projector);
    join(block.dag, std::move(of_tower));
    join(block.dag, std::move(of_projector));
    return finished(std::move(block), pass.tensor);
  }

  template <class Add>
  void add_linears(const Add& add, const Pass& pass) const {
    std::int64_t in = tower_.merged();
    for (std::size_t i = 0; i <= tower_.projector.size(); ++i) {
      const bool last = i == tower_.projector.size();
      const std::int64_t out =
          last ? std::get<Transformer>(scenario_.model.shape).hidden : tower_.projector[i];
      const std::string name = "projector " + std::to_string(i + 1);
      add(column_linear(pass, name, in, out, tower_.projector_bias));
      if (!last) add(activation(pass, out, false));
      in = out;
    }
  }

  /// Ops of one part behind those of another.
  static void join(OpDag& dag, OpDag more) {
    for (Op& op : more.ops)
      dag.add(std::move(op), dag.ops.empty() ? Vertices{} : Vertices{dag.ops.size() - 1});
  }

  const Scenario& scenario_;
  const VisionTower& tower_;
  const ImageTokens image_;
  const Transformer layers_;
  LayerStack stack_;
  const bool trained_;
  double repeats_ = 1;  ///< ranks that do the same work
};

}  // namespace

void append_tower(BlockChain& chain, const Scenario& scenario, const VisionTower& tower,
                  const Pass& pass) {
  Tower(scenario, tower, pass).append_to(chain);
}

void add_images(OpDag& embedding, const Scenario& scenario, const Pass& pass) {
  const Training& training = scenario.training;
  const double share = static_cast<double>(pass.outer_tokens()) /
                       static_cast<double>(pass.batch * pass.whole_sequence());
  const double tokens = share * static_cast<double>(pass.batch * training.images->per_sequence *
                                                    scenario.image_tokens()->merged);
  const bool trained = training.trains(TowerPart::tower) || training.trains(TowerPart::projector);
  const std::int64_t hidden = std::get<Transformer>(scenario.model.shape).hidden;
  embedding.add(place_images(pass.carried(), hidden, tokens, trained), {embedding.ops.size() - 1});
}

double parameter_count(const VisionTower& v, std::int64_t decoder_hidden) {
  const std::int64_t h = v.hidden, norm = v.rms_norm || !v.bias ? h : 2 * h;
  const std::int64_t attention = 4 * h * h + (v.bias ? 4 * h : 0);
  const std::int64_t ups = v.gated_mlp ? 2 : 1;
  const std::int64_t mlp = (ups + 1) * h * v.ffn + (v.bias ? ups * v.ffn + h : 0);
  std::int64_t sum = v.layers * (attention + mlp + 2 * norm) + v.patch_values() * h +
                     (v.positions + (v.patch_bias ? 1 : 0) + (v.class_token ? 1 : 0)) * h;
  sum += ((v.input_norm ? 1 : 0) + (v.output_norm ? 1 : 0)) * norm;
  if (v.projector_norm != ProjectorNorm::none)
    sum += v.projector_norm == ProjectorNorm::rms ? h : 2 * h;
  std::int64_t in = v.merged();
  const auto add_linear = [&](std::int64_t out) {
    sum += (in + (v.projector_bias ? 1 : 0)) * out;
    in = out;
  };
  for (const std::int64_t width : v.projector) add_linear(width);
  add_linear(decoder_hidden);
  return static_cast<double>(sum);
}

}  // namespace stepsim
