// BERT, T5 and ViT, each after its configuration class.
#include <fmt/format.h>

#include "sim/scenario/huggingface/huggingface_layout.hpp"
#include "sim/scenario/huggingface/huggingface_translation.hpp"

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
void set_classes(Translation& t, Tree& vision) {
  const Entry* names = t.find({"id2label"});
  if (names != nullptr && !names->value.is_map())
    t.refuse(*names, "must be a map of numbers and names");
  if (names != nullptr) {
    t.set(vision, "classes", std::to_string(names->value.entries.size()), names);
  } else {
    t.copy(vision, "classes", {"num_labels"});
  }
}

void set_dropout(Translation& t) {
  const bool hidden = t.drops({"hidden_dropout_prob"});
  const bool attention = t.drops({"attention_probs_dropout_prob"});
  t.set_flag("dropout", hidden || attention);
  if (hidden != attention)
    t.note(
        "hidden_dropout_prob and attention_probs_dropout_prob: dropout is in both places or in "
        "none");
}

void shared_by_encoders(Translation& t) {
  t.copy("layers", {"num_hidden_layers"});
  t.copy("hidden", {"hidden_size"});
  t.copy("heads", {"num_attention_heads"});
  t.copy("ffn", {"intermediate_size"});
}

}  // namespace

void bert_of_huggingface(Translation& t) {
  shared_by_encoders(t);
  t.copy("vocabulary", {"vocab_size"});
  t.copy("positions", {"max_position_embeddings"});
  t.copy("token_types", {"type_vocab_size"});
  t.copy("tied_embeddings", {"tie_word_embeddings"});
  t.copy("causal", {"is_decoder"});
  t.set("post_norm", "true");
  Tree masked = t.empty();
  t.set(masked, "next_sentence", predicts_next_sentence(t) ? "true" : "false");
  t.set("masked", std::move(masked));
  set_dropout(t);
  const Entry* position = t.find({"position_embedding_type"});
  if (position != nullptr && position->value.scalar != "absolute")
    t.note(
        fmt::format("position_embedding_type {}: positions are absolute", position->value.scalar));
}

void vit_of_huggingface(Translation& t) {
  shared_by_encoders(t);
  Tree vision = t.empty();
  t.copy(vision, "image", {"image_size"});
  t.copy(vision, "patch", {"patch_size"});
  t.copy(vision, "channels", {"num_channels"});
  set_classes(t, vision);
  t.set("vision", std::move(vision));
  set_dropout(t);
  if (!t.flag({"qkv_bias"})) t.note("qkv_bias: queries, keys and values have biases");
}

void t5_of_huggingface(Translation& t) {
  t.copy("encoder_layers", {"num_layers"});
  // The decoder has as many layers as the encoder where nobody says otherwise.
  const bool stated = t.find({"num_decoder_layers"}) != nullptr;
  t.copy("layers", {stated ? "num_decoder_layers" : "num_layers"});
  t.copy("hidden", {"d_model"});
  t.copy("heads", {"num_heads"});
  t.copy("head_dim", {"d_kv"});
  t.copy("ffn", {"d_ff"});
  t.copy("vocabulary", {"vocab_size"});
  t.copy("relative_positions", {"relative_attention_num_buckets"});
  t.copy("tied_embeddings", {"tie_word_embeddings"});
  t.set("rms_norm", "true");
  t.set("bias", "false");
  const Entry* activation = t.find({"feed_forward_proj"});
  t.set_flag("gated_mlp", activation != nullptr && activation->value.scalar.starts_with("gated"));
  t.set_flag("dropout", t.drops({"dropout_rate"}));
  if (!t.flag({"is_encoder_decoder"})) t.note("is_encoder_decoder: both stacks are simulated");
  t.find({"n_positions"});  // belongs to the tokenizer: positions are relative
}

}  // namespace stepsim
