// Reading and writing keys of a Hugging Face config, and the list of those that cost nothing.
#include "sim/scenario/huggingface/huggingface_translation.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/core/suggest.hpp"
#include "sim/scenario/read/scalar.hpp"

namespace stepsim {
namespace {

/// Keys that say nothing about the cost of a training step: names, tokens, numerics that leave
/// shapes and kernels as they are (rotary embeddings cost the same however they are scaled), and
/// inference. The scenario decides precision and sequence length.
constexpr std::string_view kHarmless =
    " _attn_implementation _name_or_path activation_function architectures auto_map"
    " aux_loss_alpha bos_token_id classifier_dropout cls_token_id decoder_start_token_id"
    " dense_act_fn dtype embd_pdrop encoder_stride eos_token_id ep_size head_dim hidden_act"
    " id2label initializer_factor initializer_range is_decoder is_encoder_decoder is_gated_act"
    " label2id layer_norm_eps layer_norm_epsilon mask_token_id max_position_embeddings"
    " max_window_layers model_type n_ctx norm_topk_prob output_past output_router_logits"
    " pad_token_id pooler_act pooler_output_size pretraining_tp"
    " relative_attention_max_distance rms_norm_eps rope_interleave rope_parameters"
    " rope_scaling rope_theta routed_scaling_factor router_aux_loss_coef router_jitter_noise"
    " scale_attn_by_inverse_layer_idx scale_attn_weights scoring_func sep_token_id seq_aux"
    " summary_activation summary_first_dropout summary_proj_to_labels summary_type"
    " summary_use_proj task_specific_params topk_group topk_method torch_dtype"
    " transformers_version unk_token_id use_cache ";

bool is_harmless(const std::string& key) {
  return kHarmless.find(" " + key + " ") != std::string_view::npos;
}

/// A key that costs something, with what is simulated in its place. It does nothing where it is
/// null, false, 0 or `off`.
struct LeftOut {
  std::string_view key, off, simulated;
};
constexpr LeftOut kLeftOut[] = {
    {"add_cross_attention", "", "cross-attention is left out"},
    {"attention_dropout", "", "dropout of attention alone is left out"},
    {"gradient_checkpointing", "", "training.recompute decides what is computed again"},
    {"n_group", "1", "a token may go to experts of every group"},
    {"num_nextn_predict_layers", "", "the layers that predict further tokens are left out"},
    {"quantization_config", "", "training.precision decides the type of the GEMMs"},
    {"reorder_and_upcast_attn", "", "attention runs in training.precision"},
};

bool is_off(const Tree& value, std::string_view off) {
  if (value.kind == Tree::Kind::empty) return true;
  const std::set<std::string_view> none{"false", "0", "0.0", "null", off};
  return value.kind == Tree::Kind::scalar && none.contains(value.scalar);
}

}  // namespace

const Entry* Translation::find(std::initializer_list<std::string_view> keys) {
  const Entry* found = nullptr;
  for (const std::string_view key : keys) {
    read_.insert(std::string(key));
    const Entry* entry = config_.find(key);
    if (found == nullptr && entry != nullptr && entry->value.kind != Tree::Kind::empty)
      found = entry;
  }
  return found;
}

bool Translation::has_null(std::string_view key) const {
  const Entry* entry = config_.find(key);
  return entry != nullptr && entry->value.kind == Tree::Kind::empty;
}

void Translation::copy(Tree& map, std::string_view key,
                       std::initializer_list<std::string_view> from, std::string_view preset) {
  if (find(from) == nullptr) return set(map, key, preset);
  copy_if_there(map, key, from);
}

void Translation::copy_if_there(Tree& map, std::string_view key,
                                std::initializer_list<std::string_view> from) {
  const Entry* entry = find(from);
  if (entry != nullptr) map.entries.push_back({std::string(key), entry->key_place, entry->value});
}

void Translation::set(Tree& map, std::string_view key, std::string_view value) {
  map.entries.push_back(
      {std::string(key),
       config_.place,
       {.kind = Tree::Kind::scalar, .scalar = std::string(value), .place = config_.place}});
}

void Translation::set(std::string_view key, Tree map) {
  model_.entries.push_back({std::string(key), config_.place, std::move(map)});
}

std::int64_t Translation::integer(std::string_view key, std::int64_t preset) {
  const Entry* entry = find({key});
  if (entry == nullptr) return preset;
  std::int64_t value = 0;
  try {
    if (entry->value.kind != Tree::Kind::scalar) throw Mistake{"is not an integer", ""};
    read_scalar(entry->value.scalar, value);
    if (value < 0 || value > 1'000'000'000) throw Mistake{"is out of range", ""};
    return value;
  } catch (const Mistake&) {
    refuse(*entry, "must be an integer between 0 and 1000000000");
    return preset;
  }
}

bool Translation::flag(std::string_view key, bool preset) {
  const Entry* entry = find({key});
  if (entry == nullptr) return preset;
  if (entry->value.scalar != "true" && entry->value.scalar != "false")
    refuse(*entry, "must be true or false");
  return entry->value.scalar == "true";
}

bool Translation::drops(std::string_view key, std::string_view preset) {
  const Entry* entry = find({key});
  const std::string_view rate = entry == nullptr ? preset : entry->value.scalar;
  return rate != "0" && rate != "0.0";
}

void Translation::refuse(const Entry& entry, const std::string& why) {
  problems_.add(entry.value.place.line > 0 ? entry.value.place : entry.key_place, path_,
                fmt::format("{}: {} {}", path_, quoted(entry.key), why));
}

Tree Translation::finish(std::string_view model_type) {
  note_what_is_left_out();
  set("source", fmt::format("Hugging Face config, model_type {}", model_type));
  Tree list{.kind = Tree::Kind::list, .place = config_.place};
  for (const std::string& text : notes_)
    list.items.push_back({.kind = Tree::Kind::scalar, .scalar = text, .place = config_.place});
  if (!list.items.empty()) set("notes", std::move(list));
  return std::move(model_);
}

void Translation::note_what_is_left_out() {
  std::vector<std::string> unknown;
  for (const Entry& entry : config_.entries) {
    const auto* left = std::find_if(std::begin(kLeftOut), std::end(kLeftOut),
                                    [&](const LeftOut& known) { return known.key == entry.key; });
    if (left != std::end(kLeftOut)) {
      if (!is_off(entry.value, left->off)) note(fmt::format("{}: {}", entry.key, left->simulated));
    } else if (!is_harmless(entry.key) && !read_.contains(entry.key)) {
      unknown.push_back(entry.key);
    }
  }
  if (!unknown.empty()) note(fmt::format("not read: {}", fmt::join(unknown, ", ")));
}

}  // namespace stepsim
