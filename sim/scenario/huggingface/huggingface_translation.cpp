// Reading and writing keys of a Hugging Face config, and the list of those that cost nothing.
#include "sim/scenario/huggingface/huggingface_translation.hpp"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/core/suggest.hpp"
#include "sim/core/words.hpp"
#include "sim/scenario/read/scalar.hpp"

namespace stepsim {
namespace {

/// Keys that say nothing about the cost of a training step: names, tokens, numerics that leave
/// shapes and kernels as they are, and inference. The scenario decides precision and sequence
/// length.
constexpr std::string_view kHarmless =
    " apply_residual_connection_post_layernorm architectures attn_implementation attn_impl"
    " attn_scale attn_temperature_tuning embedding_fraction floor_scale init_config"
    " initial_context_length swiglu_limit tokenizer_name position_embedding_type"
    " add_classification_head class_num pool_type org_vocab_size use_cla cla_share_factor"
    " use_rotary_pos_emb moe_use_aux_free moe_gate moe_capacity norm_head norm_softmax"
    " score_function use_rmsnorm use_routing_bias qk_norm_type for_llm_compressor"
    " moe_random_routing_dropped_token scale_emb scale_depth dim_model_base"
    " use_parallel_block use_parallel_embedding use_embedding_sharing layer_switch"
    " order_of_interleaved_layers use_gated_activation indexer_types"
    " attn_logit_softcapping auto_map"
    " cache_implementation classifier_dropout clip_qkv dtype embd_pdrop embed_dropout "
    "embedding_dropout"
    " emb_pdrop encoder_stride ep_size expansion_ratio final_logit_softcapping head_dim"
    " id2label image_token_index init_device init_method_std is_decoder is_encoder_decoder"
    " is_gated_act kv_channels label2id layer_norm_elementwise_affine logit_scale logits_scaling"
    " mask_type max_position_embeddings max_sequence_length max_seq_len max_window_layers"
    " model_max_length model_type mscale n_ctx n_positions no_rope_layer_interval no_rope_layers"
    " norm_topk_prob norm_type num_key_value_heads num_logits_to_keep offset_alibi"
    " expand moe_shared_expert_overlap mtp_hybrid_override_pattern mtp_layers_block_type"
    " mtp_use_dedicated_embeddings rescale_prenorm_residual use_mamba_kernels"
    " original_max_position_embeddings original_rope output_past output_router_logits"
    " partial_rotary_factor pooler_output_size pretraining_tp qk_head_dim query_pre_attn_scalar"
    " relative_attention_max_distance routed_scaling_factor scale_attn_by_inverse_layer_idx"
    " scale_attention_softmax_in_fp32 attention_softmax_in_fp32 scale_attn_weights"
    " scale_embedding scoring_func seq_aux seq_length sliding_window_pattern slow_but_exact "
    "task_specific_params"
    " tokenizer_class topk_method torch_dtype transformers_version unsloth_fixed"
    " unsloth_version use_bidirectional_attention use_cache use_flash_attn verbose ";

/// What transformers before release 5 wrote into each config: how text is generated, and what a
/// call returns (PretrainedConfig in src/transformers/configuration_utils.py).
constexpr std::string_view kOfGeneration =
    " chunk_size_feed_forward diversity_penalty do_sample early_stopping"
    " encoder_no_repeat_ngram_size length_penalty max_length min_length no_repeat_ngram_size"
    " num_beam_groups num_beams num_return_sequences output_attentions output_hidden_states"
    " output_scores pruned_heads remove_invalid_values repetition_penalty return_dict"
    " return_dict_in_generate temperature tf_legacy_loss tie_encoder_decoder top_k top_p"
    " torchscript typical_p use_bfloat16 ";

/// What all keys that begin or end like that have in common.
constexpr std::string_view kHarmlessStarts[] = {"_",      "initializer_", "rope",
                                                "rotary", "router_",      "summary_",
                                                "mamba_", "moe_router_",  "time_step_"};
constexpr std::string_view kHarmlessEnds[] = {
    "_act",     "_act_fn", "_activation", "_alpha",      "_coef",        "_eps",
    "_epsilon", "_factor", "_function",   "_multiplier", "_theta",       "_token",
    "_base",    "_std",    "_id",         "_token_ids",  "_token_index", "_noise"};

bool is_harmless(std::string_view key) {
  const auto starts = [&](std::string_view part) { return key.starts_with(part); };
  const auto ends = [&](std::string_view part) { return key.ends_with(part); };
  const std::string word = fmt::format(" {} ", key);
  return kHarmless.find(word) != std::string_view::npos ||
         kOfGeneration.find(word) != std::string_view::npos ||
         std::any_of(std::begin(kHarmlessStarts), std::end(kHarmlessStarts), starts) ||
         std::any_of(std::begin(kHarmlessEnds), std::end(kHarmlessEnds), ends);
}

/// A key that costs something, with what is simulated in its place. It does nothing where it is
/// null, false, 0, an empty list or `off`.
struct LeftOut {
  std::string_view key, off, simulated;
};
constexpr LeftOut kLeftOut[] = {
    {"add_cross_attention", "", "cross-attention is left out"},
    {"attention_dropout", "", "dropout of attention alone is left out"},
    {"attention_out_bias", "", "the projection after attention has no bias"},
    {"audio_config", "", "the audio tower is left out"},
    {"img_processor", "", "the vision tower is left out"},
    {"gradient_checkpointing", "", "training.recompute decides what is computed again"},
    {"lm_head_bias", "", "the bias of the logits is left out"},
    {"mtp_num_hidden_layers", "", "the layers that predict further tokens are left out"},
    {"num_mtp_modules", "", "the layers that predict further tokens are left out"},
    {"num_nextn_predict_layers", "", "the layers that predict further tokens are left out"},
    {"quantization", "", "training.precision decides the type of the GEMMs"},
    {"quantization_config", "", "training.precision decides the type of the GEMMs"},
    {"residual_in_fp32", "", "residuals have the type of activations"},
    {"reorder_and_upcast_attn", "", "attention runs in training.precision"},
    {"vision_config", "", "the vision tower is left out"},
};

bool is_off(const Tree& value, std::string_view off) {
  if (value.kind == Tree::Kind::list) return value.items.empty();
  if (value.kind == Tree::Kind::empty) return true;
  const std::set<std::string_view> none{"false", "0", "0.0", "null", off};
  return value.kind == Tree::Kind::scalar && none.contains(value.scalar);
}

/// The entry of `a.b`, or nullptr.
const Entry* entry_at(const Tree& map, std::string_view path) {
  const std::size_t dot = path.find('.');
  const Entry* entry = map.find(path.substr(0, dot));
  if (entry == nullptr || dot == std::string_view::npos) return entry;
  return entry->value.is_map() ? entry_at(entry->value, path.substr(dot + 1)) : nullptr;
}

bool is_there(const Entry* entry) {
  return entry != nullptr && entry->value.kind != Tree::Kind::empty;
}

/// What a list says of every layer, where that is the same; nothing otherwise.
std::optional<std::string> value_of_all(const Tree& value) {
  if (value.kind != Tree::Kind::list || value.items.empty()) return std::nullopt;
  const Tree& first = value.items.front();
  const bool are_alike = std::all_of(value.items.begin(), value.items.end(), [&](const Tree& item) {
    return item.kind == Tree::Kind::scalar && item.scalar == first.scalar;
  });
  return are_alike ? std::optional(first.scalar) : std::nullopt;
}

constexpr std::int64_t kLargest = 1'000'000'000;  // beyond any width or count of a model

}  // namespace

Translation::Translation(const Tree& config, const ModelLayout& layout, const std::string& path,
                         Problems& problems)
    : config_(config), path_(path), problems_(problems), model_(empty_map(config.place)) {
  const auto names = words_of(kSizeKeys);
  const auto sizes = words_of(layout.sizes);
  for (std::size_t i = 0; i < sizes.size(); ++i)
    if (sizes[i] != "-") presets_.emplace_back(names[i], sizes[i]);
  for (const std::string_view word : words_of(layout.keys)) {
    const std::size_t equals = word.find('=');
    presets_.emplace_back(word.substr(0, equals), word.substr(equals + 1));
  }
}

const Translation::Preset* Translation::preset_of(Keys keys) const {
  for (const std::string_view key : keys) {
    const auto found = std::find_if(presets_.begin(), presets_.end(),
                                    [&](const Preset& preset) { return preset.first == key; });
    if (found != presets_.end()) return &*found;
  }
  return nullptr;
}

std::optional<std::string_view> Translation::assumed(Keys keys) {
  const Preset* preset = preset_of(keys);
  if (preset == nullptr || preset->second == "null") return std::nullopt;
  const auto& [key, value] = *preset;
  const std::string said = fmt::format("{} {}", key, value);
  const bool matters = value != "false" || key == "tie_word_embeddings";
  if (matters && std::find(assumed_.begin(), assumed_.end(), said) == assumed_.end())
    assumed_.push_back(said);
  return value;
}

const Entry* Translation::find(Keys keys) {
  const Entry* found = nullptr;
  for (const std::string_view key : keys) {
    read_.emplace(key.substr(0, key.find('.')));
    const Entry* entry = entry_at(config_, key);
    if (found == nullptr && is_there(entry)) found = entry;
    const Entry* outer = config_.find(key.substr(0, key.find('.')));
    if (entry == nullptr && is_there(outer) && !outer->value.is_map())
      refuse(*outer, fmt::format("must be a map, not {}", title_of(outer->value.kind)));
  }
  return found;
}

bool Translation::has_null(Keys keys) const {
  return std::any_of(keys.begin(), keys.end(), [&](std::string_view key) {
    const Entry* entry = entry_at(config_, key);
    return entry != nullptr && !is_there(entry);
  });
}

void Translation::refuse_contradiction(Keys keys) {
  const Entry* first = find(keys);
  for (const std::string_view key : keys) {
    const Entry* entry = entry_at(config_, key);
    if (!is_there(entry) || entry == first || entry->value.scalar == first->value.scalar) continue;
    refuse(*entry, fmt::format("contradicts {} {}", first->key, quoted(first->value.scalar)),
           "state one of the two");
  }
}

void Translation::copy(Tree& map, std::string_view key, Keys from) {
  if (!knows(from)) return;
  refuse_contradiction(from);
  const std::string_view preset = preset_of(from)->second;
  if (preset == "true" || preset == "false") {
    flag(from);
  } else {
    integer(from, 1);
  }
  if (const Entry* entry = find(from); entry != nullptr && entry->value.kind != Tree::Kind::list) {
    map.remove(key);
    map.entries.push_back({std::string(key), entry->key_place, entry->value});
  } else if (const auto value = text(from)) {
    set(map, key, *value);
  }
}

void Translation::set(Tree& map, std::string_view key, std::string_view value) {
  set(map, key, value, nullptr);
}

void Translation::set(Tree& map, std::string_view key, std::string_view value, const Entry* from) {
  map.remove(key);
  const Place& key_place = from == nullptr ? config_.place : from->key_place;
  const Place& place = from == nullptr ? config_.place : from->value.place;
  map.entries.push_back(
      {std::string(key),
       key_place,
       {.kind = Tree::Kind::scalar, .scalar = std::string(value), .place = place}});
}

void Translation::set(Tree& map, std::string_view key, Tree value) {
  map.entries.push_back({std::string(key), config_.place, std::move(value)});
}

std::optional<std::string> Translation::text(Keys keys) {
  if (!knows(keys)) return std::nullopt;
  const Entry* entry = find(keys);
  if (entry == nullptr) {
    const auto value = has_null(keys) ? std::nullopt : assumed(keys);
    return value ? std::optional<std::string>(*value) : std::nullopt;
  }
  if (entry->value.kind == Tree::Kind::scalar) return entry->value.scalar;
  if (auto value = value_of_all(entry->value)) return value;
  refuse(*entry, fmt::format("must be one value, not {}", title_of(entry->value.kind)));
  return std::nullopt;
}

std::optional<std::int64_t> Translation::integer(Keys keys, std::int64_t least) {
  const auto value = text(keys);
  if (!value) return std::nullopt;
  std::int64_t number = -1;
  try {
    read_scalar(*value, number);
  } catch (const Mistake&) {
    number = -1;
  }
  if (number >= least && number <= kLargest) return number;
  const Preset* preset = preset_of(keys);
  refuse(
      *find(keys),
      fmt::format("must be an integer between {} and {}, not {}", least, kLargest, quoted(*value)),
      preset->second == "null" ? "leave it out"
                               : fmt::format("the class's default is {}", preset->second));
  return std::nullopt;
}

std::optional<std::vector<std::string>> Translation::list(Keys keys, std::string_view what) {
  const Entry* entry = find(keys);
  if (entry == nullptr) return std::nullopt;
  const Tree& value = entry->value;
  if (value.kind != Tree::Kind::list) {
    refuse(*entry, fmt::format("must be a list of {}, not {}", what, title_of(value.kind)));
    return std::nullopt;
  }
  std::vector<std::string> words;
  for (const Tree& item : value.items) {
    if (item.kind != Tree::Kind::scalar) {
      refuse(*entry, fmt::format("must be a list of {}, but has {}", what, title_of(item.kind)));
      return std::nullopt;
    }
    words.push_back(item.scalar);
  }
  return words;
}

std::optional<double> Translation::positive(Keys keys) {
  const auto value = text(keys);
  if (!value) return std::nullopt;
  double number = 0;
  try {
    read_scalar(*value, number);
  } catch (const Mistake&) {
    number = 0;
  }
  if (number > 0) return number;
  refuse(*find(keys), fmt::format("must be above 0, not {}", quoted(*value)),
         "null, or no such key, where there is none");
  return std::nullopt;
}

bool Translation::flag(Keys keys) {
  const auto value = text(keys);
  if (value && *value != "true" && *value != "false") refuse(*find(keys), "must be true or false");
  return value == "true";
}

bool Translation::drops(Keys keys) {
  const auto value = text(keys);
  double rate = 0;
  try {
    if (value) read_scalar(*value, rate);
  } catch (const Mistake&) {
    rate = -1;
  }
  if (rate < 0 || rate > 1)
    refuse(*find(keys), fmt::format("must be between 0 and 1, not {}", quoted(*value)));
  return rate > 0;
}

void Translation::refuse(const Entry& entry, const std::string& why, const std::string& proposal) {
  if (!refused_.insert(&entry).second) return;
  problems_.add(entry.value.place.line > 0 ? entry.value.place : entry.key_place, path_,
                fmt::format("{}: {} {}", path_, quoted(entry.key), why), proposal);
}

void Translation::need(Keys keys) {
  const Preset* preset = preset_of(keys);
  if (preset != nullptr && find(keys) == nullptr && !text(keys)) refuse_without(preset->first);
}

void Translation::refuse_without(std::string_view key) {
  refused_.insert(nullptr);
  problems_.add(config_.place, path_,
                fmt::format("{}: {} is missing, and its class has no default", path_, key),
                fmt::format("add \"{}\": <integer>", key));
}

std::optional<Tree> Translation::finish(std::string_view model_type) {
  note_what_is_left_out();
  if (!refused_.empty()) return std::nullopt;
  set("source", fmt::format("Hugging Face config, model_type {}", model_type));
  if (!assumed_.empty())
    note(fmt::format("assumed, as {} has them by default: {}", model_type,
                     fmt::join(assumed_, ", ")));
  Tree list{.kind = Tree::Kind::list, .place = config_.place};
  for (const std::string& text : notes_)
    list.items.push_back({.kind = Tree::Kind::scalar, .scalar = text, .place = config_.place});
  if (!list.items.empty()) set("notes", std::move(list));
  return std::move(model_);
}

std::string Translation::misspelt(std::string_view key) const {
  constexpr std::size_t kShortest = 8,
                        kMostEdits = 2;  // judgement: shorter keys are alike by chance
  if (key.size() < kShortest || is_harmless(key)) return "";
  const auto found = std::find_if(presets_.begin(), presets_.end(), [&](const Preset& preset) {
    return config_.find(preset.first) == nullptr && edit_distance(key, preset.first) <= kMostEdits;
  });
  return found == presets_.end() ? "" : std::string(found->first);
}

void Translation::note_what_is_left_out() {
  std::vector<std::string> unknown;
  for (const Entry& entry : config_.entries) {
    const auto& [key, place, value] = entry;
    if (read_.contains(key) || knows({key}) || value.kind == Tree::Kind::empty) continue;
    const auto* left =
        std::find_if(std::begin(kLeftOut), std::end(kLeftOut),
                     [&, &name = key](const LeftOut& known) { return known.key == name; });
    if (left != std::end(kLeftOut)) {
      if (!is_off(value, left->off)) note(fmt::format("{}: {}", key, left->simulated));
    } else if (const std::string meant = misspelt(key); !meant.empty()) {
      refuse(entry, "is not known here", fmt::format("did you mean '{}'?", meant));
    } else if (!is_harmless(key)) {
      unknown.push_back(key);
    }
  }
  if (!unknown.empty()) note(fmt::format("not read: {}", fmt::join(unknown, ", ")));
}

std::optional<std::int64_t> layer_number(const std::string& word) {
  std::int64_t number = 0;
  std::from_chars(word.data(), word.data() + word.size(), number);
  return std::to_string(number) == word ? std::optional(number) : std::nullopt;
}

}  // namespace stepsim
