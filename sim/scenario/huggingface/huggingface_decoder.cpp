// Decoders, as their layouts say: one translation for all of them.
#include <algorithm>
#include <set>
#include <string>

#include <fmt/format.h>

#include "sim/scenario/huggingface/huggingface_table.hpp"
#include "sim/scenario/huggingface/huggingface_translation.hpp"

namespace stepsim {
namespace {

// What a thing is called, by whichever class.
const Keys kLayers{"num_hidden_layers", "n_layer", "n_layers", "num_layers"};
const Keys kHidden{"hidden_size", "n_embd", "n_embed", "d_model"};
const Keys kHeads{"num_attention_heads", "n_head", "n_heads", "num_heads"};
const Keys kKvHeads{"num_key_value_heads", "n_head_kv", "num_kv_heads", "attn_config.kv_n_heads"};
const Keys kHeadDim{"head_dim", "kv_channels", "attention_head_dim"};
const Keys kFfn{"intermediate_size", "n_inner", "ffn_dim", "ffn_hidden_size"};
const Keys kVocabulary{"vocab_size", "padded_vocab_size"};
const Keys kPositions{"max_position_embeddings", "n_positions"};
const Keys kExperts{"num_experts", "num_local_experts", "n_routed_experts", "moe_num_experts",
                    "ffn_config.moe_num_experts"};
const Keys kTopK{"num_experts_per_tok", "num_experts_per_token", "moe_k", "moe_topk",
                 "ffn_config.moe_top_k"};
const Keys kExpertFfn{"moe_intermediate_size", "ffn_config.ffn_hidden_size"};
const Keys kSharedFfn{"shared_expert_intermediate_size", "shared_intermediate_size",
                      "moe_shared_expert_intermediate_size"};
const Keys kSharedCount{"n_shared_experts", "num_shared_experts", "moe_num_shared_experts",
                        "num_shared_expert"};
const Keys kDenseLayers{"first_k_dense_replace", "moe_layer_start_index"};
const Keys kExpertStep{"decoder_sparse_step", "moe_layer_freq", "moe_layer_interval",
                       "interleave_moe_layer_step"};
const Keys kAllBias{"use_bias", "bias", "add_bias_linear"};
const Keys kQkvBias{"qkv_bias", "use_qkv_bias", "add_qkv_bias"};
const Keys kQkNorm{"use_qk_norm", "qk_layernorm", "attn_config.qk_ln"};
const Keys kHiddenDropout{"resid_pdrop", "hidden_dropout", "dropout", "residual_dropout",
                          "resid_dropout"};
const Keys kAttentionDropout{"attn_pdrop", "attention_dropout", "attn_config.attn_pdrop"};

constexpr std::string_view kNumbersOfLayers = "numbers of layers";

/// A list has an entry for each layer (layer_type_validation in configuration_utils.py).
void refuse_other_length(Translation& t, const Entry& list, std::size_t length) {
  const auto layers = t.integer(kLayers);
  if (layers && *layers != static_cast<std::int64_t>(length))
    t.refuse(list, fmt::format("is of {} layers, but num_hidden_layers is {}", length, *layers));
}

// --- experts

/// How many layers the list names, which must be the first ones.
std::int64_t leading_layers(Translation& t, std::string_view key) {
  const auto layers = t.list({key}, kNumbersOfLayers);
  if (!layers) return 0;
  const std::set<std::string> named(layers->begin(), layers->end());
  for (std::size_t i = 0; i < layers->size(); ++i) {
    if (named.contains(std::to_string(i))) continue;
    t.refuse(*t.find({key}),
             "must name the first layers: dense layers come before those with experts");
    return 0;
  }
  return static_cast<std::int64_t>(layers->size());
}

/// The list of layers with experts must have all from its first on; nothing without a list.
std::optional<std::int64_t> first_of_experts(Translation& t) {
  if (!t.knows({"moe_layers"})) return std::nullopt;
  const auto named = t.list({"moe_layers"}, kNumbersOfLayers);
  if (!named || named->empty()) return std::nullopt;
  const auto layers = t.integer(kLayers).value_or(0);
  const std::int64_t first = layers - static_cast<std::int64_t>(named->size());
  for (std::size_t i = 0; i < named->size(); ++i) {
    if ((*named)[i] == std::to_string(first + static_cast<std::int64_t>(i))) continue;
    t.refuse(*t.find({"moe_layers"}),
             "must name the last layers: dense layers come before those with experts");
    break;
  }
  return first;
}

/// How many layers the list calls dense, which must be the first ones; nothing without a list.
std::optional<std::int64_t> layers_called_dense(Translation& t) {
  if (!t.knows({"mlp_layer_types"})) return std::nullopt;
  const auto types = t.list({"mlp_layer_types"}, "the words dense and sparse");
  if (!types) return std::nullopt;
  const Entry& entry = *t.find({"mlp_layer_types"});
  for (const std::string& type : *types) {
    if (type == "dense" || type == "sparse") continue;
    t.refuse(entry, fmt::format("has {}: layers are dense or sparse", quoted(type)));
    return std::nullopt;
  }
  refuse_other_length(t, entry, types->size());
  const auto first = std::ranges::find(*types, "sparse");
  if (std::find(first, types->end(), "dense") != types->end())
    t.refuse(entry, "must have its dense layers before those with experts");
  return first - types->begin();
}

/// Layers before those with experts, which have to be all the others.
std::int64_t dense_layers(Translation& t) {
  if (const auto first = first_of_experts(t)) return *first;
  if (const auto dense = layers_called_dense(t)) return *dense;
  if (t.integer(kExpertStep).value_or(1) != 1)
    t.refuse(*t.find(kExpertStep), "must be 1: dense layers come before those with experts");
  const auto layers = t.integer(kLayers).value_or(0);
  const Entry* end = t.find({"moe_layer_end_index"});
  if (end != nullptr && end->value.scalar != "-1" &&
      end->value.scalar != std::to_string(layers - 1))
    t.refuse(*end, "must be the last layer: dense layers come before those with experts");
  if (t.knows({"mlp_only_layers"})) return leading_layers(t, "mlp_only_layers");
  return t.integer(kDenseLayers).value_or(0);
}

/// Inner width of the shared experts together.
std::int64_t shared_ffn(Translation& t, const ModelLayout& layout, std::int64_t expert_ffn) {
  if (t.knows(kSharedFfn)) return t.integer(kSharedFfn).value_or(0);
  if (t.knows(kSharedCount)) return t.integer(kSharedCount).value_or(0) * expert_ffn;
  return layout.shared_experts * expert_ffn;
}

/// Writes the experts, where the model has any; whether there are dense layers, too. `in_pattern`:
/// letters of parts say which layers have them.
bool set_experts(Translation& t, const ModelLayout& layout, bool in_pattern) {
  if (!t.text(kExperts) || t.integer(kExperts) == std::int64_t{0}) return true;
  Tree experts = t.empty();
  t.copy(experts, "count", kExperts);
  t.need(kTopK);
  t.copy(experts, "top_k", kTopK);
  const Keys& width = t.knows(kExpertFfn) ? kExpertFfn : kFfn;
  t.copy(experts, "ffn", width);
  const std::int64_t shared = shared_ffn(t, layout, t.integer(width).value_or(0));
  if (shared > 0) t.set(experts, "shared_ffn", std::to_string(shared));
  if (layout.expert_bias) t.set(experts, "bias", "true");
  if (const auto limit = t.positive({"swiglu_limit"}))
    t.set(experts, "clamp", fmt::format("{}", *limit), t.find({"swiglu_limit"}));
  if (layout.shared_gate && shared > 0) t.set(experts, "shared_gate", "true");
  const std::int64_t dense = in_pattern ? 0 : dense_layers(t);
  if (!in_pattern) t.set(experts, "dense_layers", std::to_string(dense), t.find(kDenseLayers));
  // No class has a preset for the groups of a router: a config states them or has none.
  const Entry *groups = t.find({"n_group"}), *top_groups = t.find({"topk_group"});
  if (groups != nullptr && top_groups != nullptr && groups->value.scalar != "1") {
    t.set(experts, "groups", groups->value.scalar, groups);
    t.set(experts, "top_groups", top_groups->value.scalar, top_groups);
  }
  t.set("experts", std::move(experts));
  return dense > 0;
}

// --- attention

void set_latent_attention(Translation& t) {
  for (const std::string_view key :
       {"kv_lora_rank", "qk_nope_head_dim", "qk_rope_head_dim", "v_head_dim"})
    t.need({key});
  Tree mla = t.empty();
  // Without a rank queries come from one wide layer.
  if (t.has_null({"q_lora_rank"})) {
    t.set(mla, "query_rank", "0");
  } else {
    t.copy(mla, "query_rank", {"q_lora_rank"});
  }
  t.copy(mla, "kv_rank", {"kv_lora_rank"});
  t.copy(mla, "nope_dim", {"qk_nope_head_dim"});
  t.copy(mla, "rope_dim", {"qk_rope_head_dim"});
  t.copy(mla, "value_dim", {"v_head_dim"});
  t.set("mla", std::move(mla));
  if (t.flag({"attention_bias"})) t.note("attention_bias: latent attention has none");
}

bool attends_to_all(std::string_view type) {
  return type == "full_attention" || type == "global" || type == "attention";
}

/// The number of layers of which the last attends to the whole sequence, as the list of their types
/// has it; 0: no layer does. Nothing where they do not take turns like that. Others than attention
/// are refused.
std::optional<std::int64_t> turns_of(Translation& t, const std::vector<std::string>& types) {
  const Entry& entry = *t.find({"layer_types"});
  std::vector<bool> full;
  for (const std::string& type : types) {
    const bool is_all = attends_to_all(type);
    if (!is_all && type != "sliding_attention" && type != "chunked_attention" &&
        type != "deepseek_sparse_attention") {
      t.refuse(entry,
               fmt::format("has {}: only layers of full attention are simulated", quoted(type)));
      return std::nullopt;
    }
    full.push_back(is_all);
  }
  refuse_other_length(t, entry, types.size());
  const auto first = std::ranges::find(full, true);
  const std::int64_t every = first == full.end() ? 0 : first - full.begin() + 1;
  for (std::size_t i = 0; i < full.size(); ++i) {
    const auto layer = static_cast<std::int64_t>(i) + 1;
    if (full[i] != (every > 0 && layer % every == 0)) return std::nullopt;
  }
  return every;
}

/// The number of layers of which the last attends to the whole sequence, where no list says so.
std::int64_t stated_turns(Translation& t, const ModelLayout& layout) {
  const Entry* stated = t.find({"sliding_window_pattern"});
  if (stated == nullptr || !t.knows({"sliding_window_pattern"})) return layout.full_every;
  // Exaone's way to write it: LLLG.
  const std::string& word = stated->value.scalar;
  if (word.ends_with('G') && word.find_first_not_of('L') == word.size() - 1)
    return static_cast<std::int64_t>(word.size());
  return t.integer({"sliding_window_pattern"}, 1).value_or(layout.full_every);
}

/// Layers whose attention is narrower than the sequence.
void set_window(Translation& t, const ModelLayout& layout) {
  const bool chunks = t.knows({"attention_chunk_size"});
  const std::string_view key = chunks ? "attention_chunk_size" : "sliding_window";
  const auto types = t.list({"layer_types"}, "words, one for each layer");
  const auto turns = types ? turns_of(t, *types) : std::optional(stated_turns(t, layout));
  if (t.knows({"use_sliding_window"}) && !t.flag({"use_sliding_window"})) {
    t.find({key});
    return;
  }
  const auto tokens = t.integer({key}, 1);
  if (!tokens || turns == 1) return;
  // Qwen's first layers attend to all (max_window_layers).
  if (!turns || t.knows({"use_sliding_window"}) || t.knows({"kv_lora_rank"}))
    return t.note(fmt::format("{} {}: attention is counted over the whole sequence", key, *tokens));
  Tree window = t.empty();
  t.set(window, "tokens", std::to_string(*tokens));
  if (chunks) t.set(window, "kind", "chunk");
  if (*turns > 0) t.set(window, "full_every", std::to_string(*turns));
  t.set("window", std::move(window));
}

void set_positions(Translation& t, const ModelLayout& layout) {
  switch (layout.positions) {
    case Positions::rotary:
      return t.set("positions", "0");
    case Positions::table:
      return t.copy("positions", kPositions);
    case Positions::alibi:
      t.set("positions", "0");
      return t.set("alibi", "true");
  }
}

/// Sets by which factor YaRN stretches the rotary positions of plain heads. The config's map is
/// `rope_scaling`, and `rope_parameters` since release 5 of transformers.
void set_yarn(Translation& t) {
  if (t.knows({"kv_lora_rank"}) || t.has_null({"rope_scaling", "rope_parameters"})) return;
  const Entry* kind =
      t.find({"rope_scaling.rope_type", "rope_scaling.type", "rope_parameters.rope_type"});
  const Entry* factor = t.find({"rope_scaling.factor", "rope_parameters.factor"});
  if (kind == nullptr && factor == nullptr)
    return t.copy("yarn_factor", {"rope_scaling.factor", "rope_parameters.factor"});
  if (kind != nullptr && kind->value.scalar == "yarn" && factor != nullptr)
    t.set("yarn_factor", factor->value.scalar, factor);
}

// --- the rest of a layer

/// attention_bias is about queries, keys, values and the projection behind attention, mlp_bias
/// about the MLP.
void set_biases(Translation& t, const ModelLayout& layout) {
  const bool stated = t.flag(kAllBias) || (t.knows({"no_bias"}) && !t.flag({"no_bias"}));
  const bool attention_alone = layout.biases == Biases::qkv_stated;
  const bool everywhere = layout.biases == Biases::all || (stated && !attention_alone);
  const bool attention = t.flag({"attention_bias"}) || (stated && attention_alone);
  const bool mlp = t.flag({"mlp_bias"});
  const bool all = everywhere || (attention && mlp);
  t.set_flag("bias", all);
  if (all) return;
  if (mlp) t.note("mlp_bias: left out");
  if (attention && !mlp && layout.biases == Biases::stated)
    t.note("attention_bias: that of the projection after attention is left out");
  if (layout.biases == Biases::qkv || t.flag(kQkvBias) || (attention && !mlp))
    t.set("qkv_bias", "true");
}

void set_dropout(Translation& t) {
  if (!t.knows(kHiddenDropout)) return t.set("dropout", "false");
  const bool hidden = t.drops(kHiddenDropout);
  const bool attention = t.drops(kAttentionDropout);
  t.set_flag("dropout", hidden || attention);
  if (hidden == attention) return;
  const auto known = [&](Keys keys) {
    return *std::ranges::find_if(keys, [&](std::string_view k) { return t.knows({k}); });
  };
  t.note(fmt::format("{} and {}: dropout is in both places or in none", known(kHiddenDropout),
                     known(kAttentionDropout)));
}

/// The pattern, as many layers as it has, and what its letters stand for.
void set_hybrid(Translation& t, const ModelLayout& layout, const std::string& pattern) {
  Tree hybrid = t.empty();
  t.set(hybrid, "pattern", pattern);
  t.set(hybrid, "parts", std::to_string(layout.parts));
  if (pattern.find_first_of("MG") != std::string::npos) layout.mixers(t, hybrid);
  t.set("hybrid", std::move(hybrid));
  t.set("layers", std::to_string(pattern.size() / static_cast<std::size_t>(layout.parts)));
}

void set_dimensions(Translation& t) {
  for (const Keys& keys : {kLayers, kHidden, kHeads, kVocabulary}) t.need(keys);
  t.copy("layers", kLayers);
  t.copy("hidden", kHidden);
  t.copy("heads", kHeads);
  t.copy("vocabulary", kVocabulary);
  t.copy("tied_embeddings", {"tie_word_embeddings"});
}

}  // namespace

void set_caps(Translation& t) {
  if (t.positive({"attn_logit_softcapping"})) t.set("score_cap", "true");
  if (t.positive({"final_logit_softcapping"})) t.set("logit_cap", "true");
}

void decoder_of_huggingface(Translation& t, const ModelLayout& layout) {
  for (const std::string_view note : layout.notes) t.note(note);
  const std::string pattern = layout.pattern != nullptr ? layout.pattern(t) : std::string();
  const auto has = [&](const char* letters) {
    return pattern.find_first_of(letters) != std::string::npos;
  };
  // Layers of one part each are no layers of attention and an MLP, mixers among them or not.
  const bool is_hybrid = has("MG") || (layout.parts == 1 && !pattern.empty());
  set_dimensions(t);
  bool has_dense_layers = is_hybrid && has("-");
  if (!is_hybrid) has_dense_layers = set_experts(t, layout, false);
  if (is_hybrid && has("E")) set_experts(t, layout, true);
  t.find(kFfn);  // no layer's width where none is dense
  if (has_dense_layers) t.copy("ffn", kFfn);
  set_positions(t, layout);
  t.set_flag("gated_mlp", layout.gated_mlp);
  t.set_flag("rms_norm", layout.rms_norm);
  if (t.knows({"kv_lora_rank"})) {
    set_latent_attention(t);
    t.set("bias", "false");
  } else {
    t.copy("kv_heads", kKvHeads);
    t.copy("head_dim", kHeadDim);
    if (layout.qk_norm || t.flag(kQkNorm)) t.set("qk_norm", "true");
    set_biases(t, layout);
  }
  if (layout.sandwich_norm) t.set("sandwich_norm", "true");
  if (layout.sinks) t.set("sinks", "true");
  set_yarn(t);
  const Entry* gate = t.find({"attn_output_gate"});
  if (layout.attention_gate && (gate == nullptr || gate->value.scalar != "false"))
    t.set("attention_gate", "true");
  set_dropout(t);
  if (t.flag({"use_parallel_residual", "parallel_attn"})) t.note(kParallel);
  if (is_hybrid) {
    set_hybrid(t, layout, pattern);
  } else {
    set_window(t, layout);
  }
  if (layout.rest != nullptr) layout.rest(t);
}

}  // namespace stepsim
