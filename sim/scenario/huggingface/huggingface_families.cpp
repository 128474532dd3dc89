// Translates each family of decoders by one function, named after its configuration class; lists
// all families.
#include "sim/scenario/huggingface/huggingface_families.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace stepsim {
namespace {

/// Defaults of one configuration class.
struct Defaults {
  std::string_view hidden, layers, heads, ffn, vocabulary;
};

/// A window narrower than the sequence would make attention cheaper than it is simulated.
/// `optional`: it counts only where use_sliding_window is true.
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

/// What all decoders after Llama have, but the width of their dense MLP.
void shared_with_llama(Translation& t, const Defaults& d) {
  t.copy("layers", {"num_hidden_layers"}, d.layers);
  t.copy("hidden", {"hidden_size"}, d.hidden);
  t.copy("heads", {"num_attention_heads"}, d.heads);
  t.copy("vocabulary", {"vocab_size"}, d.vocabulary);
  t.copy("tied_embeddings", {"tie_word_embeddings"}, "false");
  t.set("positions", "0");
  t.set("gated_mlp", "true");
  t.set("rms_norm", "true");
  t.set("dropout", "false");
}

void dense_mlp(Translation& t, const Defaults& d) { t.copy("ffn", {"intermediate_size"}, d.ffn); }

/// kv heads: null means as many as heads, absent the class's default.
void grouped_heads(Translation& t, std::string_view preset) {
  if (t.has_null("num_key_value_heads") || preset.empty()) {
    t.copy_if_there("kv_heads", {"num_key_value_heads"});
  } else {
    t.copy("kv_heads", {"num_key_value_heads"}, preset);
  }
}

/// Biases of all linear layers, or of queries, keys and values alone: attention_bias is about these
/// and the projection after attention, mlp_bias about the MLP.
void biases(Translation& t) {
  const bool attention = t.flag("attention_bias", false);
  const bool mlp = t.flag("mlp_bias", false);
  t.set("bias", attention && mlp ? "true" : "false");
  if (mlp && !attention) t.note("mlp_bias: left out");
  if (mlp || !attention) return;
  t.set("qkv_bias", "true");
  t.note("attention_bias: that of the projection after attention is left out");
}

void llama(Translation& t) {
  const Defaults d{"4096", "32", "32", "11008", "32000"};
  shared_with_llama(t, d);
  dense_mlp(t, d);
  grouped_heads(t, "");
  t.copy_if_there("head_dim", {"head_dim"});
  biases(t);
}

void mistral(Translation& t) {
  const Defaults d{"4096", "32", "32", "14336", "32000"};
  shared_with_llama(t, d);
  dense_mlp(t, d);
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
  const bool residual = t.drops("resid_pdrop", "0.1");
  const bool attention = t.drops("attn_pdrop", "0.1");
  t.set("dropout", residual || attention ? "true" : "false");
  if (residual != attention)
    t.note("resid_pdrop and attn_pdrop: dropout is in both places or in none");
}

void qwen2(Translation& t) {
  const Defaults d{"4096", "32", "32", "22016", "151936"};
  shared_with_llama(t, d);
  dense_mlp(t, d);
  grouped_heads(t, "32");
  t.copy_if_there("head_dim", {"head_dim"});
  t.set("bias", "false");
  t.set("qkv_bias", "true");  // in the code, not in the config
  note_window(t, true);
}

void qwen3(Translation& t) {
  const Defaults d{"4096", "32", "32", "22016", "151936"};
  shared_with_llama(t, d);
  dense_mlp(t, d);
  grouped_heads(t, "32");
  t.copy("head_dim", {"head_dim"}, "128");
  t.set("qk_norm", "true");  // in the code, not in the config
  biases(t);
  note_window(t, true);
}

void mixtral(Translation& t) {
  shared_with_llama(t, {"4096", "32", "32", "", "32000"});
  grouped_heads(t, "8");
  t.copy_if_there("head_dim", {"head_dim"});
  t.set("bias", "false");
  Tree experts = t.empty();
  t.copy(experts, "count", {"num_local_experts", "num_experts"}, "8");
  t.copy(experts, "top_k", {"num_experts_per_tok"}, "2");
  t.copy(experts, "ffn", {"intermediate_size"}, "14336");
  t.set("experts", std::move(experts));
  note_window(t, false);
}

/// Every layer from there on has experts, or the config is refused.
void all_layers_have_experts(Translation& t, std::string_view key) {
  if (t.integer(key, 1) == 1) return;
  t.refuse(*t.find({key}), "must be 1: dense layers come before those with experts");
}

/// How many layers the list names, which must be the first ones.
std::int64_t leading_layers(Translation& t, std::string_view key) {
  const Entry* entry = t.find({key});
  if (entry == nullptr) return 0;
  std::vector<std::string> layers;
  for (const Tree& item : entry->value.items) layers.push_back(item.scalar);
  for (std::size_t i = 0; i < layers.size(); ++i) {
    if (std::find(layers.begin(), layers.end(), std::to_string(i)) != layers.end()) continue;
    t.refuse(*entry, "must name the first layers: dense layers come before those with experts");
    return 0;
  }
  return static_cast<std::int64_t>(layers.size());
}

void qwen3_moe(Translation& t) {
  const Defaults d{"2048", "24", "32", "6144", "151936"};
  shared_with_llama(t, d);
  const std::int64_t dense = leading_layers(t, "mlp_only_layers");
  t.find({"intermediate_size"});  // no layer's width where no layer is dense
  if (dense > 0) dense_mlp(t, d);
  grouped_heads(t, "4");
  t.copy_if_there("head_dim", {"head_dim"});
  t.set("qk_norm", "true");
  biases(t);
  Tree experts = t.empty();
  t.copy(experts, "count", {"num_experts", "num_local_experts"}, "128");
  t.copy(experts, "top_k", {"num_experts_per_tok"}, "8");
  t.copy(experts, "ffn", {"moe_intermediate_size"}, "768");
  all_layers_have_experts(t, "decoder_sparse_step");
  t.set(experts, "dense_layers", std::to_string(dense));
  t.set("experts", std::move(experts));
  note_window(t, true);
}

/// Defaults of a class with latent attention and shared experts.
struct LatentDefaults {
  Defaults model;
  std::string_view experts, top_k, dense_layers;  ///< top_k: none where it has to be stated
  std::int64_t expert_ffn, shared;
};

void latent_attention(Translation& t) {
  Tree mla = t.empty();
  // Without a rank queries come from one wide layer.
  t.copy(mla, "query_rank", {"q_lora_rank"}, t.has_null("q_lora_rank") ? "0" : "1536");
  t.copy(mla, "kv_rank", {"kv_lora_rank"}, "512");
  t.copy(mla, "nope_dim", {"qk_nope_head_dim"}, "128");
  t.copy(mla, "rope_dim", {"qk_rope_head_dim"}, "64");
  t.copy(mla, "value_dim", {"v_head_dim"}, "128");
  t.set("mla", std::move(mla));
  t.set("bias", "false");
  if (t.flag("attention_bias", false)) t.note("attention_bias: latent attention has none");
  // Each head has keys and values of its own, whatever stands there.
  t.find({"num_key_value_heads", "head_dim", "qk_head_dim"});
}

void with_latent_attention(Translation& t, const LatentDefaults& d) {
  shared_with_llama(t, d.model);
  dense_mlp(t, d.model);
  latent_attention(t);
  Tree experts = t.empty();
  const std::int64_t width = t.integer("moe_intermediate_size", d.expert_ffn);
  const std::int64_t shared =
      t.integer("n_shared_experts", t.has_null("n_shared_experts") ? 0 : d.shared);
  t.copy(experts, "count", {"n_routed_experts", "num_local_experts"}, d.experts);
  if (d.top_k.empty()) {
    t.copy_if_there(experts, "top_k", {"num_experts_per_tok"});
  } else {
    t.copy(experts, "top_k", {"num_experts_per_tok"}, d.top_k);
  }
  t.copy(experts, "ffn", {"moe_intermediate_size"}, std::to_string(width));
  t.set(experts, "shared_ffn", std::to_string(shared * width));
  t.copy(experts, "dense_layers", {"first_k_dense_replace"}, d.dense_layers);
  all_layers_have_experts(t, "moe_layer_freq");
  t.set("experts", std::move(experts));
}

void deepseek_v2(Translation& t) {
  with_latent_attention(t, {{"4096", "32", "32", "11008", "32000"}, "64", "", "0", 1407, 2});
  if (t.flag("mlp_bias", false)) t.note("mlp_bias: left out");
}

void deepseek_v3(Translation& t) {
  with_latent_attention(t, {{"7168", "61", "128", "18432", "129280"}, "256", "8", "3", 2048, 1});
}

}  // namespace

const std::vector<Family>& huggingface_families() {
  static const std::vector<Family> families{
      {"bert", bert_of_huggingface},
      {"deepseek_v2", deepseek_v2},
      {"deepseek_v3", deepseek_v3},
      {"gpt2", gpt2},
      {"llama", llama},
      {"mistral", mistral},
      {"mixtral", mixtral},
      {"qwen2", qwen2},
      {"qwen3", qwen3},
      {"qwen3_moe", qwen3_moe},
      {"t5", t5_of_huggingface},
      {"vit", vit_of_huggingface},
  };
  return families;
}

}  // namespace stepsim
