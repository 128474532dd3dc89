// Layouts of models on Hugging Face as values: what the code of a model_type builds, and what its
// configuration class fills in.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace stepsim {

class Translation;
struct Tree;

/// Which linear layers of a layout have biases.
enum class Biases {
  stated,      ///< as the keys say that its class knows (attention_bias, mlp_bias, use_bias, ...)
  qkv_stated,  ///< as `stated`, where attention_bias is about queries, keys and values alone
  qkv,         ///< queries, keys and values, whatever the config says
  all
};

enum class Positions { rotary, table, alibi };

/// The columns of `ModelLayout::sizes`.
inline constexpr std::string_view kSizeKeys =
    "vocab_size hidden_size intermediate_size num_hidden_layers num_attention_heads "
    "num_key_value_heads head_dim tie_word_embeddings";

/// One row of the table of layouts.
struct ModelLayout {
  /// The model_type, then those of configs that have it as their text (wrappers of towers, too).
  std::string_view names;
  /// What its class has by default for kSizeKeys, in their order; - where it lacks the key.
  std::string_view sizes = "";
  /// Keys beside these that the class knows and that say what a step costs, each with its default:
  /// "moe_k=6 head_dim=null". A key that is in neither is none of its class.
  std::string_view keys = "";
  bool rms_norm = true;
  bool gated_mlp = true;
  bool qk_norm = false;
  bool sandwich_norm = false;   ///< norms behind attention and MLP, too
  bool attention_gate = false;  ///< behind attention, unless the config says no
  bool sinks = false;           ///< of attention
  bool expert_bias = false;     ///< of experts and router
  bool shared_gate = false;     ///< of the shared experts
  Biases biases = Biases::stated;
  Positions positions = Positions::rotary;
  int full_every = 0;      ///< the last of so many layers attends to more than a window; 0: none
  int shared_experts = 0;  ///< built by the code where no key counts them
  /// The parts of all layers, a letter each as in model.hybrid.pattern; "" where a mistake was
  /// reported. nullptr: all layers have attention.
  std::string (*pattern)(Translation&) = nullptr;
  int parts = 1;                                  ///< letters of a layer
  void (*mixers)(Translation&, Tree&) = nullptr;  ///< writes what letters stand for
  std::vector<std::string_view> notes = {};       ///< what its layers have and is not simulated
  void (*rest)(Translation&) = nullptr;           ///< what no other layout has
  void (*whole)(Translation&) = nullptr;          ///< translates all of it, where it is no decoder
};

/// Sources: configuration_*.py and modeling_*.py of src/transformers/models/* in
/// huggingface/transformers@008e574; of those that are not there, the config's own repository.
const std::vector<ModelLayout>& huggingface_layouts();

/// Model types that cannot be simulated, and why.
struct RefusedLayouts {
  std::string_view names;
  std::string_view why;
};
const std::vector<RefusedLayouts>& refused_huggingface_layouts();

/// Translates a decoder as its layout says.
void decoder_of_huggingface(Translation& t, const ModelLayout& layout);

// Models that have an encoder.
void bert_of_huggingface(Translation& t);
void t5_of_huggingface(Translation& t);
void vit_of_huggingface(Translation& t);

}  // namespace stepsim
