// BERT, T5 and ViT, each after its configuration class.
#include <fmt/format.h>

#include "sim/scenario/huggingface/huggingface_families.hpp"

namespace stepsim {
namespace {

/// Which of the library's models is meant decides the head: that of pre-training, or of masked
/// words alone.
bool predicts_next_sentence(Translation& t) {
  const Entry* entry = t.find({"architectures"});
  if (entry == nullptr || entry->value.items.empty()) return true;
  const std::string& model = entry->value.items.front().scalar;
  if (model == "BertForMaskedLM") return false;
  if (model != "BertForPreTraining")
    t.note(fmt::format("architectures {}: the heads of pre-training are simulated", model));
  return true;
}

/// Labels are counted, or named; the library's default is two.
std::string classes(Translation& t) {
  const Entry* names = t.find({"id2label"});
  if (names != nullptr && names->value.is_map()) return std::to_string(names->value.entries.size());
  return std::to_string(t.integer("num_labels", 2));
}

void set_dropout(Translation& t, std::string_view preset) {
  const bool hidden = t.drops("hidden_dropout_prob", preset);
  const bool attention = t.drops("attention_probs_dropout_prob", preset);
  t.set("dropout", hidden || attention ? "true" : "false");
  if (hidden != attention)
    t.note(
        "hidden_dropout_prob and attention_probs_dropout_prob: dropout is in both places or in "
        "none");
}

/// The defaults of BertConfig and ViTConfig are alike.
void shared_by_encoders(Translation& t) {
  t.copy("layers", {"num_hidden_layers"}, "12");
  t.copy("hidden", {"hidden_size"}, "768");
  t.copy("heads", {"num_attention_heads"}, "12");
  t.copy("ffn", {"intermediate_size"}, "3072");
}

}  // namespace

void bert_of_huggingface(Translation& t) {
  shared_by_encoders(t);
  t.copy("vocabulary", {"vocab_size"}, "30522");
  t.copy("positions", {"max_position_embeddings"}, "512");
  t.copy("token_types", {"type_vocab_size"}, "2");
  t.copy("tied_embeddings", {"tie_word_embeddings"}, "true");
  t.copy("causal", {"is_decoder"}, "false");
  t.set("post_norm", "true");
  Tree masked = t.empty();
  t.set(masked, "next_sentence", predicts_next_sentence(t) ? "true" : "false");
  t.set("masked", std::move(masked));
  set_dropout(t, "0.1");
  const Entry* position = t.find({"position_embedding_type"});
  if (position != nullptr && position->value.scalar != "absolute")
    t.note(
        fmt::format("position_embedding_type {}: positions are absolute", position->value.scalar));
}

void vit_of_huggingface(Translation& t) {
  shared_by_encoders(t);
  Tree vision = t.empty();
  t.copy(vision, "image", {"image_size"}, "224");
  t.copy(vision, "patch", {"patch_size"}, "16");
  t.copy(vision, "channels", {"num_channels"}, "3");
  t.set(vision, "classes", classes(t));
  t.set("vision", std::move(vision));
  set_dropout(t, "0.0");
  if (!t.flag("qkv_bias", true)) t.note("qkv_bias: queries, keys and values have biases");
}

void t5_of_huggingface(Translation& t) {
  t.copy("encoder_layers", {"num_layers"}, "6");
  t.copy("layers", {"num_decoder_layers", "num_layers"}, "6");
  t.copy("hidden", {"d_model"}, "512");
  t.copy("heads", {"num_heads"}, "8");
  t.copy("head_dim", {"d_kv"}, "64");
  t.copy("ffn", {"d_ff"}, "2048");
  t.copy("vocabulary", {"vocab_size"}, "32128");
  t.copy("relative_positions", {"relative_attention_num_buckets"}, "32");
  t.copy("tied_embeddings", {"tie_word_embeddings"}, "true");
  t.set("rms_norm", "true");
  t.set("bias", "false");
  const Entry* activation = t.find({"feed_forward_proj"});
  const bool gated = activation != nullptr && activation->value.scalar.starts_with("gated");
  t.set("gated_mlp", gated ? "true" : "false");
  t.set("dropout", t.drops("dropout_rate", "0.1") ? "true" : "false");
  if (!t.flag("is_encoder_decoder", true)) t.note("is_encoder_decoder: both stacks are simulated");
  t.find({"n_positions"});  // belongs to the tokenizer: positions are relative
}

}  // namespace stepsim
