// Layouts some of whose layers are mixers of Mamba-2 or gated delta nets, a row each.
#include <algorithm>
#include <set>
#include <string_view>

#include <fmt/format.h>

#include "sim/scenario/huggingface/huggingface_table.hpp"
#include "sim/scenario/huggingface/huggingface_translation.hpp"

namespace stepsim {
namespace {

const Keys kTypes{"layers_block_type", "layer_types"};

/// What kind of part a word of a list of layers is; `mixer`: the letter of those with a state.
/// '\0': it is none that can be simulated.
char letter_of(std::string_view type, char mixer) {
  if (type == "full_attention" || type == "attention") return '*';
  if (type == "linear_attention" || type == "mamba") return mixer;
  if (type == "moe") return 'E';
  return type == "mlp" ? '-' : '\0';
}

/// Whether what is said of each layer is said of as many as there are.
bool is_of_all_layers(Translation& t, const Entry& said, std::size_t layers) {
  const auto stated = t.integer({"num_hidden_layers"});
  if (!stated || *stated == static_cast<std::int64_t>(layers)) return true;
  t.refuse(said, fmt::format("is of {} layers, but num_hidden_layers is {}", layers, *stated));
  return false;
}

/// The letters of the list; nothing where a mistake was reported.
std::optional<std::string> letters_of_list(Translation& t, Keys keys, char mixer) {
  const auto types = t.list(keys, "words, one for each layer");
  if (!types) return std::nullopt;
  const Entry& entry = *t.find(keys);
  std::string letters;
  for (const std::string& type : *types) {
    const char letter = letter_of(type, mixer);
    if (letter == '\0') {
      t.refuse(entry,
               fmt::format("has {}: layers of attention, Mamba-2, gated delta nets, MLPs and "
                           "experts are simulated",
                           quoted(type)));
      return std::nullopt;
    }
    letters += letter;
  }
  if (!is_of_all_layers(t, entry, letters.size())) return std::nullopt;
  return letters;
}

/// The layers that the list names; others than there are is a mistake.
std::vector<std::size_t> layers_named(Translation& t, std::string_view key, std::size_t layers) {
  std::vector<std::size_t> named;
  for (const std::string& word :
       t.list({key}, "numbers of layers").value_or(std::vector<std::string>{})) {
    const std::int64_t layer = layer_number(word).value_or(-1);
    if (layer < 0 || layer >= static_cast<std::int64_t>(layers)) {
      t.refuse(*t.find({key}),
               fmt::format("names layer {}, but layers are 0 to {}", quoted(word), layers - 1));
      return {};
    }
    named.push_back(static_cast<std::size_t>(layer));
  }
  return named;
}

/// Each layer's letter and that of its MLP or experts.
std::string with_mlps(const std::string& layers, char mlp) {
  std::string pattern;
  for (const char layer : layers) pattern += {layer, mlp};
  return pattern;
}

std::size_t layers_stated(Translation& t) {
  constexpr std::int64_t kMost = 100'000;  // of a model's file
  const std::int64_t layers = t.integer({"num_hidden_layers"}, 1).value_or(1);
  if (layers <= kMost) return static_cast<std::size_t>(layers);
  t.refuse(*t.find({"num_hidden_layers"}), fmt::format("must be at most {}", kMost));
  return 1;
}

/// Layers of one part each, by a pattern or by words (NemotronHConfig).
std::string pattern_of_nemotron(Translation& t) {
  const Entry* stated = t.find({"hybrid_override_pattern"});
  t.find({"num_hidden_layers"});
  if (stated != nullptr && t.find(kTypes) == nullptr) {
    const std::string& letters = stated->value.scalar;
    if (letters.find_first_not_of("M*-E") == std::string::npos && !letters.empty())
      return is_of_all_layers(t, *stated, letters.size()) ? letters : "";
    t.refuse(*stated, "must be of the letters M, *, - and E");
    return "";
  }
  if (t.find(kTypes) == nullptr) return "ME*-";
  return letters_of_list(t, kTypes, 'M').value_or("");
}

/// Mixers unless the list names the layer.
std::string pattern_of_bamba(Translation& t) {
  std::string layers(layers_stated(t), 'M');
  for (const std::size_t layer : layers_named(t, "attn_layer_indices", layers.size()))
    layers[layer] = '*';
  return with_mlps(layers, '-');
}

std::string pattern_of_granite(Translation& t) {
  const bool has_experts = t.integer({"num_local_experts"}).value_or(0) > 0;
  const auto layers = t.find(kTypes) == nullptr ? std::string(layers_stated(t), 'M')
                                                : letters_of_list(t, kTypes, 'M');
  return layers ? with_mlps(*layers, has_experts ? 'E' : '-') : "";
}

/// The last of so many layers has full attention, unless a list says which.
std::optional<std::string> layers_of_qwen(Translation& t) {
  t.find({"full_attention_interval"});
  if (t.find({"layer_types"}) != nullptr) return letters_of_list(t, {"layer_types"}, 'G');
  const auto every =
      static_cast<std::size_t>(t.integer({"full_attention_interval"}, 1).value_or(1));
  std::string layers(layers_stated(t), 'G');
  for (std::size_t layer = every - 1; layer < layers.size(); layer += every) layers[layer] = '*';
  return layers;
}

std::string pattern_of_dense_qwen(Translation& t) {
  const auto layers = layers_of_qwen(t);
  return layers ? with_mlps(*layers, '-') : "";
}

/// Each layer has experts but those that are named, and those between every so many; none has any
/// where there are none (Qwen3NextDecoderLayer in modeling_qwen3_next.py).
std::string pattern_of_sparse_qwen(Translation& t) {
  const auto layers = layers_of_qwen(t);
  if (!layers) return "";
  const auto dense = layers_named(t, "mlp_only_layers", layers->size());
  // Qwen 3.5's layers have experts whatever the number is.
  const std::int64_t fewest = t.knows({"decoder_sparse_step"}) ? 0 : 1;
  const bool has_experts = t.integer({"num_experts"}, fewest) != std::int64_t{0};
  const auto step = static_cast<std::size_t>(t.integer({"decoder_sparse_step"}, 1).value_or(1));
  std::string pattern = with_mlps(*layers, has_experts ? 'E' : '-');
  for (std::size_t layer = 0; layer < layers->size(); ++layer) {
    if ((layer + 1) % step != 0) pattern[2 * layer + 1] = '-';
  }
  for (const std::size_t layer : dense) pattern[2 * layer + 1] = '-';
  return pattern;
}

/// Delta nets where the list has the layer, and experts behind the first dense ones.
std::string pattern_of_kimi(Translation& t) {
  std::set<std::string_view> nets;  // counted from 1 on
  if (const Entry* list = t.find({"linear_attn_config.kda_layers"}))
    for (const Tree& item : list->value.items) nets.insert(item.scalar);
  t.find({"linear_attn_config.full_attn_layers"});
  const std::size_t layers = layers_stated(t);
  const bool has_experts = t.integer({"num_experts"}).value_or(0) > 0;
  const auto dense = static_cast<std::size_t>(t.integer({"first_k_dense_replace"}).value_or(0));
  const auto step = static_cast<std::size_t>(t.integer({"moe_layer_freq"}, 1).value_or(1));
  std::string pattern;
  for (std::size_t layer = 0; layer < layers; ++layer) {
    pattern += nets.contains(std::to_string(layer + 1)) ? 'G' : '*';
    pattern += has_experts && layer >= dense && layer % step == 0 ? 'E' : '-';
  }
  return pattern;
}

// --- what letters stand for

/// Projections of mixers have no biases here, their convolutions do.
void note_biases(Translation& t) {
  const Entry* projection = t.find({"mamba_proj_bias", "use_bias"});
  if (projection != nullptr && projection->value.scalar == "true")
    t.note(fmt::format("{}: linear layers of mixers have none", projection->key));
  const Entry* convolution = t.find({"use_conv_bias", "mamba_conv_bias"});
  if (convolution != nullptr && convolution->value.scalar == "false")
    t.note(fmt::format("{}: convolutions have a bias here", convolution->key));
}

void mixers_of_nemotron(Translation& t, Tree& hybrid) {
  t.copy(hybrid, "heads", {"mamba_num_heads"});
  t.copy(hybrid, "head_dim", {"mamba_head_dim"});
  t.copy(hybrid, "groups", {"n_groups", "mamba_n_groups"});
  t.copy(hybrid, "state", {"ssm_state_size"});
  t.copy(hybrid, "convolution", {"conv_kernel", "mamba_d_conv"});
  t.copy(hybrid, "chunk", {"chunk_size", "mamba_chunk_size"});
  note_biases(t);
  if (const Entry* latent = t.find({"moe_latent_size"}))
    t.refuse(*latent, "makes tokens narrower before they go to experts, which is not simulated");
}

/// A head's width is what is left of the mixer's where nobody states it.
void mixers_of_bamba(Translation& t, Tree& hybrid) {
  t.copy(hybrid, "heads", {"mamba_n_heads"});
  if (t.text({"mamba_d_head"}) == "auto") {
    const std::int64_t width =
        t.integer({"mamba_expand"}, 1).value_or(2) * t.integer({"hidden_size"}, 1).value_or(0);
    const std::int64_t heads = t.integer({"mamba_n_heads"}, 1).value_or(1);
    if (width % heads != 0)
      t.refuse(
          *t.find({"mamba_n_heads", "mamba_expand", "hidden_size"}),
          fmt::format("does not fit: {} heads do not divide the mixers' width {}", heads, width));
    t.set(hybrid, "head_dim", std::to_string(width / heads));
  } else {
    t.copy(hybrid, "head_dim", {"mamba_d_head"});
  }
  t.copy(hybrid, "groups", {"mamba_n_groups"});
  t.copy(hybrid, "state", {"mamba_d_state"});
  t.copy(hybrid, "convolution", {"mamba_d_conv"});
  t.copy(hybrid, "chunk", {"mamba_chunk_size"});
  t.set(hybrid, "rotary", "true");
  note_biases(t);
}

void mixers_of_granite(Translation& t, Tree& hybrid) {
  mixers_of_bamba(t, hybrid);
  const Entry* positions = t.find({"position_embedding_type"});
  const bool is_rotary = positions != nullptr && positions->value.scalar == "rope";
  t.set(hybrid, "rotary", is_rotary ? "true" : "false");
}

void mixers_of_qwen(Translation& t, Tree& hybrid) {
  Tree net = t.empty();
  t.copy(net, "key_heads", {"linear_num_key_heads"});
  t.copy(net, "value_heads", {"linear_num_value_heads"});
  t.copy(net, "key_dim", {"linear_key_head_dim"});
  t.copy(net, "value_dim", {"linear_value_head_dim"});
  t.copy(net, "convolution", {"linear_conv_kernel_dim"});
  t.set(hybrid, "rotary", "true");
  t.set(hybrid, "delta_net", std::move(net));
}

/// Kimi delta attention: as many heads of keys as of values, all of one width, which is the rank of
/// decays and gates, too.
void mixers_of_kimi(Translation& t, Tree& hybrid) {
  if (!t.text({"linear_attn_config.num_heads"})) return;
  Tree net = t.empty();
  t.copy(net, "key_heads", {"linear_attn_config.num_heads"});
  t.copy(net, "value_heads", {"linear_attn_config.num_heads"});
  t.copy(net, "key_dim", {"linear_attn_config.head_dim"});
  t.copy(net, "value_dim", {"linear_attn_config.head_dim"});
  t.copy(net, "gate_rank", {"linear_attn_config.head_dim"});
  t.copy(net, "convolution", {"linear_attn_config.short_conv_kernel_size"});
  t.set(hybrid, "delta_net", std::move(net));
}

/// A model without experts has the shared expert as its MLP.
void rest_of_granite(Translation& t) {
  if (t.integer({"num_local_experts"}).value_or(0) == 0)
    t.copy("ffn", {"shared_intermediate_size"});
}

/// A layout of Qwen's with gated delta nets.
ModelLayout like_qwen3_next(ModelLayout layout) {
  layout.qk_norm = layout.attention_gate = layout.shared_gate = true;
  layout.parts = 2;
  layout.mixers = mixers_of_qwen;
  return layout;
}

}  // namespace

const std::vector<ModelLayout>& hybrid_huggingface_layouts() {
  static const std::vector<ModelLayout> layouts{
      {.names = "bamba",
       .sizes = "128000 4096 14336 32 32 8 - false",
       .keys = "attn_layer_indices=null mamba_n_heads=128 mamba_d_head=auto mamba_n_groups=1 "
               "mamba_d_state=256 mamba_d_conv=4 mamba_expand=2 mamba_chunk_size=256",
       .pattern = pattern_of_bamba,
       .parts = 2,
       .mixers = mixers_of_bamba},
      {.names = "granitemoehybrid",
       .sizes = "32000 4096 11008 32 32 null null false",
       .keys = "shared_intermediate_size=1024 num_local_experts=8 num_experts_per_tok=2 "
               "attention_bias=false layer_types=null mamba_n_heads=128 mamba_d_head=auto "
               "mamba_n_groups=1 mamba_d_state=256 mamba_d_conv=4 mamba_expand=2 "
               "mamba_chunk_size=256",
       .pattern = pattern_of_granite,
       .parts = 2,
       .mixers = mixers_of_granite,
       .rest = rest_of_granite},
      // Its class has no widths of latent attention by default: those of the released model.
      {.names = "kimi_linear",
       .sizes = "163840 4096 11008 32 32 null - false",
       .keys = "moe_intermediate_size=null num_experts=null num_experts_per_token=null "
               "num_shared_experts=0 first_k_dense_replace=0 moe_layer_freq=1 "
               "kv_lora_rank=512 q_lora_rank=null qk_nope_head_dim=128 qk_rope_head_dim=64 "
               "v_head_dim=128 linear_attn_config.kda_layers=null "
               "linear_attn_config.full_attn_layers=null linear_attn_config.num_heads=null "
               "linear_attn_config.head_dim=null linear_attn_config.short_conv_kernel_size=4",
       .pattern = pattern_of_kimi,
       .parts = 2,
       .mixers = mixers_of_kimi},
      {.names = "nemotron_h",
       .sizes = "131072 4096 21504 - 32 8 128 false",
       .keys = "layers_block_type=null hybrid_override_pattern=null attention_bias=false "
               "mlp_bias=false mamba_num_heads=128 mamba_head_dim=64 n_groups=8 "
               "ssm_state_size=128 conv_kernel=4 chunk_size=128 n_routed_experts=8 "
               "moe_intermediate_size=7688 moe_shared_expert_intermediate_size=7688 "
               "n_shared_experts=1 num_experts_per_tok=2 moe_latent_size=null "
               "hidden_dropout=0.0 attention_dropout=0.0",
       .gated_mlp = false,
       .pattern = pattern_of_nemotron,
       .mixers = mixers_of_nemotron},
      like_qwen3_next(
          {.names = "qwen3_5_text qwen3_5",
           .sizes = "248320 4096 12288 32 16 4 256 false",
           .keys = "attention_bias=false layer_types=null full_attention_interval=4 "
                   "linear_num_key_heads=16 linear_num_value_heads=32 linear_key_head_dim=128 "
                   "linear_value_head_dim=128 linear_conv_kernel_dim=4",
           .pattern = pattern_of_dense_qwen}),
      like_qwen3_next(
          {.names = "qwen3_5_moe_text qwen3_5_moe",
           .sizes = "248320 2048 - 40 16 2 256 false",
           .keys = "attention_bias=false layer_types=null full_attention_interval=4 "
                   "linear_num_key_heads=16 linear_num_value_heads=32 linear_key_head_dim=128 "
                   "linear_value_head_dim=128 linear_conv_kernel_dim=4 num_experts=256 "
                   "num_experts_per_tok=8 moe_intermediate_size=512 "
                   "shared_expert_intermediate_size=512",
           .pattern = pattern_of_sparse_qwen}),
      like_qwen3_next(
          {.names = "qwen3_next",
           .sizes = "151936 2048 5632 48 16 2 256 false",
           .keys = "attention_bias=false layer_types=null full_attention_interval=4 "
                   "linear_num_key_heads=16 linear_num_value_heads=32 linear_key_head_dim=128 "
                   "linear_value_head_dim=128 linear_conv_kernel_dim=4 num_experts=512 "
                   "num_experts_per_tok=10 moe_intermediate_size=512 "
                   "shared_expert_intermediate_size=512 mlp_only_layers=null "
                   "decoder_sparse_step=1",
           .pattern = pattern_of_sparse_qwen}),
  };
  return layouts;
}

}  // namespace stepsim
