// Translation of Hugging Face configs, one function a family of models.
#include "sim/scenario/huggingface.hpp"

#include <algorithm>
#include <filesystem>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/core/suggest.hpp"
#include "sim/scenario/scalar.hpp"

namespace stepsim {
namespace {

/// Keys that say nothing about the cost of a training step: names, tokens, numerics that leave
/// shapes and kernels as they are (rotary embeddings cost the same however they are scaled), and
/// inference. The scenario decides precision and sequence length.
const std::set<std::string_view> kHarmless = {"_attn_implementation",
                                              "_name_or_path",
                                              "architectures",
                                              "auto_map",
                                              "aux_loss_alpha",
                                              "bos_token_id",
                                              "dtype",
                                              "embd_pdrop",
                                              "eos_token_id",
                                              "ep_size",
                                              "head_dim",
                                              "hidden_act",
                                              "activation_function",
                                              "id2label",
                                              "initializer_range",
                                              "is_decoder",
                                              "label2id",
                                              "layer_norm_epsilon",
                                              "max_position_embeddings",
                                              "max_window_layers",
                                              "model_type",
                                              "n_ctx",
                                              "norm_topk_prob",
                                              "output_past",
                                              "output_router_logits",
                                              "pad_token_id",
                                              "pretraining_tp",
                                              "rms_norm_eps",
                                              "rope_interleave",
                                              "rope_parameters",
                                              "rope_scaling",
                                              "rope_theta",
                                              "routed_scaling_factor",
                                              "router_aux_loss_coef",
                                              "router_jitter_noise",
                                              "scale_attn_by_inverse_layer_idx",
                                              "scale_attn_weights",
                                              "scoring_func",
                                              "seq_aux",
                                              "summary_activation",
                                              "summary_first_dropout",
                                              "summary_proj_to_labels",
                                              "summary_type",
                                              "summary_use_proj",
                                              "task_specific_params",
                                              "topk_method",
                                              "torch_dtype",
                                              "transformers_version",
                                              "unk_token_id",
                                              "use_cache"};

/// Keys that cost something, with what is simulated in their place; looked at where they are not
/// null, false, 0 or 1.
constexpr std::pair<std::string_view, std::string_view> kLeftOut[] = {
    {"add_cross_attention", "cross-attention is left out"},
    {"attention_dropout", "dropout of attention alone is left out"},
    {"n_group", "a token may go to experts of every group"},
    {"num_nextn_predict_layers", "the layers that predict further tokens are left out"},
    {"quantization_config", "training.precision decides the type of the GEMMs"},
    {"reorder_and_upcast_attn", "attention runs in training.precision"},
};

/// A config on its way to a model.
class Translation {
 public:
  Translation(const Tree& config, const std::string& path, Problems& problems)
      : config_(config), path_(path), problems_(problems), model_(empty_map(config.place)) {}

  /// The entry of the first of these keys that is there and not null; all of them are known now.
  const Entry* find(std::initializer_list<std::string_view> keys) {
    const Entry* found = nullptr;
    for (const std::string_view key : keys) {
      read_.insert(std::string(key));
      const Entry* entry = config_.find(key);
      if (found == nullptr && entry != nullptr && entry->value.kind != Tree::Kind::empty)
        found = entry;
    }
    return found;
  }
  bool has_null(std::string_view key) const {
    const Entry* entry = config_.find(key);
    return entry != nullptr && entry->value.kind == Tree::Kind::empty;
  }

  /// Gives the model's `key` the value that stands there, or the default of the class.
  void copy(std::string_view key, std::initializer_list<std::string_view> from,
            std::string_view preset) {
    copy(model_, key, from, preset);
  }
  void copy(Tree& map, std::string_view key, std::initializer_list<std::string_view> from,
            std::string_view preset) {
    const Entry* entry = find(from);
    if (entry == nullptr) return set(map, key, preset);
    map.entries.push_back({std::string(key), entry->key_place, entry->value});
  }
  void copy_if_there(std::string_view key, std::initializer_list<std::string_view> from) {
    const Entry* entry = find(from);
    if (entry != nullptr)
      model_.entries.push_back({std::string(key), entry->key_place, entry->value});
  }

  void set(std::string_view key, std::string_view value) { set(model_, key, value); }
  void set(Tree& map, std::string_view key, std::string_view value) {
    map.entries.push_back(
        {std::string(key),
         config_.place,
         {.kind = Tree::Kind::scalar, .scalar = std::string(value), .place = config_.place}});
  }
  void set(std::string_view key, Tree map) {
    model_.entries.push_back({std::string(key), config_.place, std::move(map)});
  }

  /// A number that takes part in arithmetic here; a mistake in it is reported.
  std::int64_t integer(std::string_view key, std::int64_t preset) {
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
  bool flag(std::string_view key, bool preset) {
    const Entry* entry = find({key});
    if (entry == nullptr) return preset;
    if (entry->value.scalar != "true" && entry->value.scalar != "false")
      refuse(*entry, "must be true or false");
    return entry->value.scalar == "true";
  }

  void note(const std::string& text) { notes_.push_back(text); }
  void refuse(const Entry& entry, const std::string& why) {
    problems_.add(entry.value.place.line > 0 ? entry.value.place : entry.key_place, path_,
                  fmt::format("{}: {} {}", path_, quoted(entry.key), why));
  }

  Tree empty() const { return empty_map(config_.place); }
  Tree finish(std::string_view model_type) {
    note_what_is_left_out();
    set("source", fmt::format("Hugging Face config, model_type {}", model_type));
    Tree list{.kind = Tree::Kind::list, .place = config_.place};
    for (const std::string& text : notes_)
      list.items.push_back({.kind = Tree::Kind::scalar, .scalar = text, .place = config_.place});
    if (!list.items.empty()) set("notes", std::move(list));
    return std::move(model_);
  }

 private:
  static bool is_off(const Tree& value) {
    if (value.kind == Tree::Kind::empty) return true;
    const std::set<std::string_view> off{"false", "0", "0.0", "1", "null"};
    return value.kind == Tree::Kind::scalar && off.contains(value.scalar);
  }

  void note_what_is_left_out() {
    std::vector<std::string> unknown;
    for (const Entry& entry : config_.entries) {
      const auto left =
          std::find_if(std::begin(kLeftOut), std::end(kLeftOut),
                       [&](const auto& candidate) { return candidate.first == entry.key; });
      if (left != std::end(kLeftOut)) {
        if (!is_off(entry.value)) note(fmt::format("{}: {}", entry.key, left->second));
      } else if (!kHarmless.contains(entry.key) && !read_.contains(entry.key)) {
        unknown.push_back(entry.key);
      }
    }
    if (!unknown.empty()) note(fmt::format("not read: {}", fmt::join(unknown, ", ")));
  }

  const Tree& config_;
  const std::string& path_;
  Problems& problems_;
  Tree model_;
  std::set<std::string> read_;
  std::vector<std::string> notes_;
};

/// Defaults of one configuration class.
struct Defaults {
  std::string_view hidden, layers, heads, kv_heads, ffn, vocabulary;
};

/// A window narrower than the sequence would make attention cheaper than it is simulated.
void note_window(Translation& t, bool optional) {
  const bool wanted = !optional || t.flag("use_sliding_window", false);
  const Entry* window = t.find({"sliding_window"});
  if (wanted && window != nullptr)
    t.note(fmt::format("sliding_window {}: attention is counted over the whole sequence",
                       window->value.scalar));
  const Entry* types = t.find({"layer_types"});
  if (types == nullptr) return;
  const auto& items = types->value.items;
  const auto other = std::find_if(items.begin(), items.end(),
                                  [](const Tree& item) { return item.scalar != "full_attention"; });
  if (other != items.end())
    t.note(fmt::format("layer_types has {}: all layers have full attention", other->scalar));
}

void shared_with_llama(Translation& t, const Defaults& d) {
  t.copy("layers", {"num_hidden_layers"}, d.layers);
  t.copy("hidden", {"hidden_size"}, d.hidden);
  t.copy("heads", {"num_attention_heads"}, d.heads);
  t.copy("ffn", {"intermediate_size"}, d.ffn);
  t.copy("vocabulary", {"vocab_size"}, d.vocabulary);
  t.copy("tied_embeddings", {"tie_word_embeddings"}, "false");
  t.set("positions", "0");
  t.set("gated_mlp", "true");
  t.set("rms_norm", "true");
  t.set("dropout", "false");
}

/// kv heads: null means as many as heads, absent the class's default.
void grouped_heads(Translation& t, std::string_view preset) {
  if (t.has_null("num_key_value_heads") || preset.empty()) {
    t.copy_if_there("kv_heads", {"num_key_value_heads"});
  } else {
    t.copy("kv_heads", {"num_key_value_heads"}, preset);
  }
}

/// Biases are everywhere or nowhere: attention_bias is about attention, mlp_bias about the MLP.
void biases(Translation& t) {
  const bool attention = t.flag("attention_bias", false);
  const bool mlp = t.flag("mlp_bias", false);
  t.set("bias", attention && mlp ? "true" : "false");
  if (attention != mlp) t.note(attention ? "attention_bias: left out" : "mlp_bias: left out");
}

void llama(Translation& t) {
  shared_with_llama(t, {"4096", "32", "32", "", "11008", "32000"});
  grouped_heads(t, "");
  t.copy_if_there("head_dim", {"head_dim"});
  biases(t);
}

void mistral(Translation& t) {
  shared_with_llama(t, {"4096", "32", "32", "", "14336", "32000"});
  grouped_heads(t, "8");
  t.copy_if_there("head_dim", {"head_dim"});
  t.set("bias", "false");
  note_window(t, false);
}

void gpt2(Translation& t) {
  t.copy("layers", {"n_layer", "num_hidden_layers"}, "12");
  t.copy("hidden", {"n_embd", "hidden_size"}, "768");
  t.copy("heads", {"n_head", "num_attention_heads"}, "12");
  t.copy_if_there("ffn", {"n_inner"});  // the default, 4 * n_embd, is also a model file's
  t.copy("vocabulary", {"vocab_size"}, "50257");
  t.copy("positions", {"n_positions", "max_position_embeddings"}, "1024");
  t.copy("tied_embeddings", {"tie_word_embeddings"}, "true");
  const auto drops = [&](std::string_view key) {
    const Entry* entry = t.find({key});
    return entry == nullptr || (entry->value.scalar != "0" && entry->value.scalar != "0.0");
  };
  const bool residual = drops("resid_pdrop"), attention = drops("attn_pdrop");
  t.set("dropout", residual || attention ? "true" : "false");
  if (residual != attention)
    t.note("resid_pdrop and attn_pdrop: dropout is in both places or in none");
}

struct Family {
  std::string_view model_type;
  void (*translate)(Translation&);
};

constexpr Family kFamilies[] = {
    {"gpt2", gpt2},
    {"llama", llama},
    {"mistral", mistral},
};

/// The language model of a multimodal config is a config of its own.
const Tree& language_model(const Tree& config) {
  const Entry* text = config.find("text_config");
  const bool nested =
      text != nullptr && text->value.is_map() && text->value.find("model_type") != nullptr;
  return nested ? text->value : config;
}

}  // namespace

bool is_huggingface(const std::string& file) { return file.ends_with(".json"); }

std::shared_ptr<const Source> as_yaml(const Source& json) {
  Source source = json;
  std::replace(source.text.begin(), source.text.end(), '\t', ' ');
  return std::make_shared<Source>(std::move(source));
}

std::optional<Tree> model_of_huggingface(const Tree& config, const std::string& path,
                                         Problems& problems) {
  const Tree& text = language_model(config);
  const Entry* type = text.find("model_type");
  if (type == nullptr || type->value.kind != Tree::Kind::scalar) {
    problems.add(text.place, path, fmt::format("{}: a Hugging Face config has a model_type", path),
                 "a model of stepsim's own is a .yaml file");
    return std::nullopt;
  }
  const std::string& wanted = type->value.scalar;
  const auto family = std::find_if(std::begin(kFamilies), std::end(kFamilies),
                                   [&](const Family& f) { return f.model_type == wanted; });
  if (family == std::end(kFamilies)) {
    problems.add(type->value.place, path,
                 fmt::format("{}: model_type {} cannot be read", path, quoted(wanted)),
                 fmt::format("these can: {}", fmt::join(huggingface_model_types(), ", ")));
    return std::nullopt;
  }
  Translation translation(text, path, problems);
  family->translate(translation);
  if (&text != &config) translation.note("text_config alone is simulated");
  return translation.finish(wanted);
}

std::string huggingface_name(const std::string& file) {
  namespace fs = std::filesystem;
  const fs::path path(file);
  std::error_code ignored;
  const std::string folder = fs::absolute(path, ignored).parent_path().filename().string();
  return path.stem() == "config" && !folder.empty() ? folder : path.stem().string();
}

std::vector<std::string> huggingface_model_types() {
  std::vector<std::string> types;
  for (const Family& family : kFamilies) types.emplace_back(family.model_type);
  std::sort(types.begin(), types.end());
  return types;
}

}  // namespace stepsim
