// Towers by the type of the model around them, a row each.
//
// Sources: configuration_*.py and modeling_*.py of src/transformers/models/{clip, siglip, llava,
// llava_next, gemma3, llama4, qwen2_vl, qwen2_5_vl, qwen3_vl} in huggingface/transformers@008e574.
#include "sim/scenario/huggingface/huggingface_tower.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "sim/core/words.hpp"
#include "sim/scenario/huggingface/huggingface_translation.hpp"

namespace stepsim {
namespace {

const Keys kTowerLayers{"num_hidden_layers", "depth"};
const Keys kTowerHeads{"num_attention_heads", "num_heads"};
const Keys kEdge{"patch_size", "spatial_patch_size"};
const Keys kColours{"num_channels", "in_channels", "in_chans"};
constexpr const char* kMerge = "spatial_merge_size";
constexpr double kMostMerged = 1000;  // patches of an edge; towers merge two

/// What all towers have. `width`: the key of the layers' width.
void set_layers(Translation& t, std::string_view width) {
  t.copy("layers", kTowerLayers);
  t.copy("hidden", {width});
  t.copy("heads", kTowerHeads);
  t.copy("patch", kEdge);
  t.copy("channels", kColours);
}

void set_list(Translation& t, std::string_view key, const std::vector<std::int64_t>& numbers) {
  Tree list = t.empty();
  list.kind = Tree::Kind::list;
  for (const std::int64_t number : numbers)
    list.items.push_back(
        {.kind = Tree::Kind::scalar, .scalar = std::to_string(number), .place = list.place});
  t.set(key, std::move(list));
}

/// Patches of an edge of an image, all of which are equal squares; 0: a mistake was reported.
std::int64_t patches_of_edge(Translation& t) {
  t.copy("image", {"image_size"});
  return t.integer({"image_size"}, 1).value_or(0) / t.integer(kEdge, 1).value_or(1);
}

/// A table of positions for the patches of an image, and a class token with one of its own.
void set_equal_images(Translation& t, bool class_token) {
  const std::int64_t edge = patches_of_edge(t);
  t.set("positions", std::to_string(edge * edge + (class_token ? 1 : 0)));
  t.copy("ffn", {"intermediate_size"});
  t.set("output_norm", "true");
  if (!class_token) return;
  t.set("class_token", "true");
  t.set("patch_bias", "false");
  t.set("input_norm", "true");
}

void set_clip(Translation& t, std::int64_t hidden) {
  set_layers(t, "hidden_size");
  set_equal_images(t, t.text({"model_type"}) != "siglip_vision_model");
  set_list(t, "projector", {hidden});
  t.set_flag("projector_bias", t.flag({"multimodal_projector_bias"}));
  t.note("the projector reads what enters the tower's last layer; here what leaves it");
}

void set_clip_of_crops(Translation& t, std::int64_t hidden) {
  set_clip(t, hidden);
  t.find({"image_grid_pinpoints"});
  t.note(
      "an image is cut into crops, each of which is one here: training.images.per_sequence counts "
      "crops; the vector between rows is left out");
}

/// The mean of a square of patches, as many of which as the model wants tokens.
void set_gemma(Translation& t, std::int64_t) {
  set_layers(t, "hidden_size");
  set_equal_images(t, false);
  const std::int64_t edge = patches_of_edge(t),
                     tokens = t.integer({"mm_tokens_per_image"}, 1).value_or(1);
  const auto side = static_cast<std::int64_t>(std::sqrt(static_cast<double>(tokens)));
  const std::int64_t merge = edge / (side + 1) + 1;  // the least that leaves no more tokens
  if (edge % merge != 0 || (edge / merge) * (edge / merge) != tokens) {
    const Entry* stated = t.find({"mm_tokens_per_image", "image_size", "patch_size"});
    if (stated != nullptr)
      t.refuse(*stated, fmt::format("does not fit: {} x {} patches are no squares of {} tokens",
                                    edge, edge, tokens));
  }
  t.set("merge", std::to_string(merge));
  t.set("merging", "average");
  t.set("projector_norm", "rms");
  t.set("projector_bias", "false");
}

/// Squares of patches go through two linear layers, and their output through one more
/// (Llama4VisionPixelShuffleMLP, Llama4MultiModalProjector).
void set_llama4(Translation& t, std::int64_t) {
  set_layers(t, "hidden_size");
  set_equal_images(t, true);
  t.set("rotary", "true");
  t.find({"vision_output_dim", "multi_modal_projector_bias", "vision_feature_layer",
          "vision_feature_select_strategy", "projector_dropout"});
  const auto ratio = t.positive({"pixel_shuffle_ratio"}).value_or(1);
  const auto merge = static_cast<std::int64_t>(std::min(1 / ratio + 0.5, kMostMerged));
  if (ratio > 1 || static_cast<double>(merge) * ratio != 1)
    if (const Entry* stated = t.find({"pixel_shuffle_ratio"}))
      t.refuse(*stated, "must be one part of a whole number, as 0.5");
  t.set("merge", std::to_string(std::max<std::int64_t>(merge, 1)));
  set_list(t, "projector",
           {t.integer({"projector_input_dim"}, 1).value_or(1),
            t.integer({"projector_output_dim"}, 1).value_or(1)});
  t.set("projector_bias", "false");
}

/// Frames, squares of patches and the projector of Qwen's towers, whose images have any size.
void set_qwen(Translation& t, std::int64_t width) {
  t.copy("frames", {"temporal_patch_size"});
  t.copy("merge", {kMerge});
  const std::int64_t merge = t.integer({kMerge}, 1).value_or(1);
  if (static_cast<double>(merge) > kMostMerged) {
    t.refuse(*t.find({kMerge}), fmt::format("must be at most {}", kMostMerged));
    return;
  }
  set_list(t, "projector", {merge * merge * width});
}

void set_qwen2(Translation& t, std::int64_t) {
  set_layers(t, "embed_dim");
  const std::int64_t width = t.integer({"embed_dim"}, 1).value_or(1);
  t.set("ffn", std::to_string(t.integer({"mlp_ratio"}, 1).value_or(4) * width));
  t.find({"hidden_size"});  // the decoder's
  t.set("patch_bias", "false");
  t.set("projector_norm", "layer");
  set_qwen(t, width);
}

/// The number of layers of which the last attends to all of an image; 0: they do not take turns.
std::int64_t turns_of_tower(Translation& t) {
  constexpr std::string_view kFull = "fullatt_block_indexes";
  const auto named = t.list({kFull}, "numbers of layers");
  if (!named) return 8;  // the class has every eighth
  if (named->empty()) return 0;
  const std::int64_t layers = t.integer(kTowerLayers, 1).value_or(1);
  const std::int64_t every =
      std::clamp<std::int64_t>(layer_number(named->front()).value_or(layers), 0, layers) + 1;
  for (std::size_t i = 0; i < named->size(); ++i) {
    if ((*named)[i] == std::to_string((static_cast<std::int64_t>(i) + 1) * every - 1)) continue;
    t.refuse(*t.find({kFull}), "must name the last of every so many layers, as 7, 15, 23, 31");
    return 0;
  }
  if (static_cast<std::int64_t>(named->size()) != layers / every)
    t.refuse(*t.find({kFull}), fmt::format("leaves out layers of the {} that take turns", layers));
  return every;
}

void set_qwen2_5(Translation& t, std::int64_t) {
  set_layers(t, "hidden_size");
  t.copy("ffn", {"intermediate_size"});
  t.set("patch_bias", "false");
  t.set("gated_mlp", "true");
  t.set("rms_norm", "true");
  t.set("projector_norm", "rms");
  const std::int64_t patch = t.integer(kEdge, 1).value_or(1);
  const std::int64_t edge = t.integer({"window_size"}, patch).value_or(patch) / patch;
  Tree window = t.empty();
  t.set(window, "tokens", std::to_string(edge * edge));
  t.set(window, "kind", "chunk");
  t.set(window, "full_every", std::to_string(turns_of_tower(t)));
  t.set("window", std::move(window));
  t.find({"out_hidden_size"});  // the decoder's
  set_qwen(t, t.integer({"hidden_size"}, 1).value_or(1));
}

void set_qwen3(Translation& t, std::int64_t) {
  set_layers(t, "hidden_size");
  t.copy("ffn", {"intermediate_size"});
  t.copy("positions", {"num_position_embeddings"});
  t.set("rotary", "true");
  t.set("projector_norm", "layer");
  t.find({"out_hidden_size"});  // the decoder's
  const auto deep = t.list({"deepstack_visual_indexes"}, "numbers of layers");
  const std::size_t mergers = deep ? deep->size() : 3;
  if (mergers > 0)
    t.note(
        fmt::format("deepstack_visual_indexes: {} further projectors, whose tokens are added to "
                    "those of the decoder's first layers, are left out",
                    mergers));
  set_qwen(t, t.integer({"hidden_size"}, 1).value_or(1));
}

struct TowerLayout {
  std::string_view names;   ///< of the models around it
  std::string_view keys;    ///< that the class of `vision_config` knows, each with its default
  std::string_view around;  ///< keys of the file that belong to it
  void (*write)(Translation& t, std::int64_t hidden);
};

constexpr TowerLayout kTowers[] = {
    {"gemma3",
     "hidden_size=768 intermediate_size=3072 num_hidden_layers=12 num_attention_heads=12 "
     "num_channels=3 image_size=224 patch_size=16 mm_tokens_per_image=256",
     "mm_tokens_per_image", set_gemma},
    {"llama4",
     "hidden_size=768 intermediate_size=5632 num_hidden_layers=34 num_attention_heads=16 "
     "num_channels=3 image_size=448 patch_size=14 pixel_shuffle_ratio=0.5 "
     "projector_input_dim=4096 projector_output_dim=4096",
     "", set_llama4},
    {"llava",
     "hidden_size=1024 intermediate_size=4096 num_hidden_layers=24 num_attention_heads=16 "
     "num_channels=3 image_size=336 patch_size=14 model_type=clip_vision_model "
     "multimodal_projector_bias=true",
     "multimodal_projector_bias", set_clip},
    {"llava_next",
     "hidden_size=1024 intermediate_size=4096 num_hidden_layers=24 num_attention_heads=16 "
     "num_channels=3 image_size=336 patch_size=14 model_type=clip_vision_model "
     "multimodal_projector_bias=true",
     "multimodal_projector_bias", set_clip_of_crops},
    {"qwen2_vl",
     "depth=32 embed_dim=1280 num_heads=16 mlp_ratio=4 in_channels=3 patch_size=14 "
     "spatial_merge_size=2 temporal_patch_size=2",
     "", set_qwen2},
    {"qwen2_5_vl",
     "depth=32 hidden_size=3584 intermediate_size=3420 num_heads=16 in_channels=3 patch_size=14 "
     "spatial_merge_size=2 temporal_patch_size=2 window_size=112",
     "", set_qwen2_5},
    {"qwen3_vl qwen3_vl_moe",
     "depth=27 hidden_size=1152 intermediate_size=4304 num_heads=16 in_channels=3 patch_size=16 "
     "spatial_merge_size=2 temporal_patch_size=2 num_position_embeddings=2304",
     "", set_qwen3},
};

const TowerLayout* tower_named(std::string_view model_type) {
  for (const TowerLayout& tower : kTowers)
    if (has_word(tower.names, model_type)) return &tower;
  return nullptr;
}

/// Takes the entry out of the map.
Tree taken(Tree& map, std::string_view key) {
  const Entry* entry = map.find(key);
  Tree value = entry == nullptr ? Tree{} : entry->value;
  map.remove(key);
  return value;
}

}  // namespace

bool has_huggingface_tower(std::string_view model_type, std::string_view vision_type) {
  // LLaVA takes whatever tower there is; these two are simulated.
  const bool takes_any = model_type.starts_with("llava");
  const bool is_known = vision_type.empty() || vision_type == "clip_vision_model" ||
                        vision_type == "siglip_vision_model";
  return tower_named(model_type) != nullptr && (is_known || !takes_any);
}

TowerOfHuggingface tower_of_huggingface(const Tree& config, std::string_view model_type,
                                        std::int64_t hidden, const std::string& path,
                                        Problems& problems) {
  const TowerLayout& row = *tower_named(model_type);
  Tree vision = config.find("vision_config")->value;
  for (const std::string_view key : words_of(row.around))
    if (const Entry* entry = config.find(key)) vision.entries.push_back(*entry);
  const ModelLayout layout{.names = row.names, .keys = row.keys};
  Translation translation(vision, layout, path, problems);
  row.write(translation, hidden);
  auto tower = translation.finish(model_type);
  if (!tower) return {};
  TowerOfHuggingface result{.tower = {}, .notes = {}};
  taken(*tower, "source");
  for (const Tree& note : taken(*tower, "notes").items)
    result.notes.push_back("vision_config: " + note.scalar);
  result.tower = std::move(*tower);
  return result;
}

}  // namespace stepsim
