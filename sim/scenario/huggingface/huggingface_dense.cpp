// Layouts without experts, a row each.
#include <fmt/format.h>

#include "sim/scenario/huggingface/huggingface_table.hpp"
#include "sim/scenario/huggingface/huggingface_translation.hpp"

namespace stepsim {
namespace {

// --- what one layout alone has

/// One head of keys and values, where that is asked for.
void share_one_head(Translation& t) {
  if (t.flag({"multi_query"})) t.set("kv_heads", "1");
}

void rest_of_falcon(Translation& t) {
  // The old decoder has one head of keys and values or as many as heads, whatever counts them.
  if (!t.flag({"new_decoder_architecture"}) && !t.flag({"multi_query"}))
    t.copy("kv_heads", {"num_attention_heads", "n_head"});
  if (!t.flag({"new_decoder_architecture"})) share_one_head(t);
  if (t.flag({"alibi"})) t.set("alibi", "true");
}

void rest_of_mpt(Translation& t) {
  if (t.text({"attn_config.attn_type"}) == "multiquery_attention") t.set("kv_heads", "1");
  if (t.flag({"attn_config.alibi"})) {
    t.set("alibi", "true");
  } else if (t.flag({"learned_pos_emb"})) {
    t.copy("positions", {"max_seq_len"});
  }
  const auto ratio = t.integer({"expansion_ratio"}, 1).value_or(4);
  t.set("ffn", std::to_string(ratio * t.integer({"d_model", "hidden_size"}, 1).value_or(0)));
}

/// Its table of positions has two rows for padding (OPTLearnedPositionalEmbedding).
void rest_of_opt(Translation& t) {
  const std::int64_t rows = t.integer({"max_position_embeddings"}).value_or(0);
  t.set("positions", std::to_string(rows + 2));
  t.set_flag("post_norm", !t.flag({"do_layer_norm_before"}));
  const Entry* width = t.find({"word_embed_proj_dim"});
  const auto hidden = t.integer({"d_model", "hidden_size"});
  if (width != nullptr && hidden && width->value.scalar != std::to_string(*hidden))
    t.refuse(*width, fmt::format("must be the layers' width {}: a narrower embedding is not "
                                 "simulated",
                                 *hidden));
}

void rest_of_chatglm(Translation& t) {
  if (t.flag({"multi_query_attention"})) t.copy("kv_heads", {"multi_query_group_num"});
}

/// The code of the 13B models, whose configs have no positions, has ALiBi.
void rest_of_baichuan(Translation& t) {
  const bool rotary = t.find({"max_position_embeddings"}) != nullptr;
  if (!rotary && t.find({"model_max_length"}) != nullptr) t.set("alibi", "true");
}

/// Its config counts both halves of the gated MLP (modeling_qwen.py, QWenMLP).
void rest_of_qwen(Translation& t) {
  t.set("ffn", std::to_string(t.integer({"intermediate_size"}, 2).value_or(2) / 2));
}

/// A layout with LayerNorm, plain MLPs, and biases everywhere, as GPT-2's.
ModelLayout like_gpt2(ModelLayout layout) {
  layout.rms_norm = false;
  layout.gated_mlp = false;
  layout.biases = Biases::all;
  return layout;
}

}  // namespace

// NOLINTNEXTLINE(readability-function-size): a table
const std::vector<ModelLayout>& dense_huggingface_layouts() {
  static const std::vector<ModelLayout> layouts{
      {.names = "apertus",
       .sizes = "131072 4096 14336 32 32 null null false",
       .keys = "attention_bias=false",
       .gated_mlp = false,
       .qk_norm = true},
      {.names = "arcee",
       .sizes = "32000 2560 18432 32 32 null null false",
       .keys = "attention_bias=false mlp_bias=false",
       .gated_mlp = false},
      {.names = "baichuan", .sizes = "64000 4096 11008 32 32 - - false", .rest = rest_of_baichuan},
      {.names = "bert",
       .sizes = "30522 768 3072 12 12 - - true",
       .keys = "max_position_embeddings=512 type_vocab_size=2 is_decoder=false "
               "hidden_dropout_prob=0.1 attention_probs_dropout_prob=0.1",
       .whole = bert_of_huggingface},
      like_gpt2({.names = "bloom",
                 .keys = "vocab_size=250880 hidden_size=64 n_layer=2 n_head=8 n_inner=null "
                         "tie_word_embeddings=true hidden_dropout=0.0 attention_dropout=0.0",
                 .positions = Positions::alibi,
                 .notes = {"the norm behind the embedding is left out"}}),
      {.names = "chatglm",
       .keys = "padded_vocab_size=65024 hidden_size=4096 ffn_hidden_size=13696 "
               "num_layers=28 num_attention_heads=32 kv_channels=128 "
               "multi_query_attention=false multi_query_group_num=1 "
               "add_bias_linear=false add_qkv_bias=false tie_word_embeddings=false "
               "hidden_dropout=0.0 attention_dropout=0.0",
       .rest = rest_of_chatglm},
      like_gpt2({.names = "codegen",
                 .keys = "vocab_size=50400 n_embd=4096 n_layer=28 n_head=16 n_inner=null "
                         "tie_word_embeddings=false resid_pdrop=0.0 attn_pdrop=0.0",
                 .notes = {kParallel, kHeadBias,
                           "the layers of attention have no biases: they have here"}}),
      {.names = "cohere",
       .sizes = "256000 8192 22528 40 64 null null true",
       .keys = "attention_bias=false use_qk_norm=false",
       .rms_norm = false,
       .notes = {kParallel}},
      {.names = "cohere2",
       .sizes = "256000 8192 22528 40 64 null null true",
       .keys = "attention_bias=false sliding_window=4096 sliding_window_pattern=null",
       .rms_norm = false,
       .full_every = 4,
       .notes = {kParallel}},
      {.names = "cwm",
       .sizes = "128256 6144 21504 64 48 8 128 false",
       .keys = "sliding_window=8192",
       .full_every = 4},
      {.names = "ernie4_5", .sizes = "103424 1024 3072 18 16 2 128 true", .keys = "use_bias=false"},
      {.names = "exaone",
       .sizes = "102400 2048 null - 32 null null true",
       .keys = "num_layers=32 resid_dropout=0.0 attention_dropout=0.0"},
      {.names = "exaone4",
       .sizes = "102400 4096 16384 32 32 32 null false",
       .keys = "sliding_window=4096 sliding_window_pattern=null",
       .qk_norm = true,
       .full_every = 4,
       .notes = {kNormsBehind}},
      {.names = "falcon RefinedWeb RefinedWebModel",
       .keys = "vocab_size=65024 hidden_size=4544 num_hidden_layers=32 "
               "num_attention_heads=71 n_head_kv=null ffn_hidden_size=null alibi=false "
               "new_decoder_architecture=false multi_query=true parallel_attn=true "
               "bias=false tie_word_embeddings=true hidden_dropout=0.0 "
               "attention_dropout=0.0",
       .rms_norm = false,
       .gated_mlp = false,
       .rest = rest_of_falcon},
      {.names = "gemma",
       .sizes = "256000 3072 24576 28 16 16 256 true",
       .keys = "attention_bias=false"},
      {.names = "gemma2",
       .sizes = "256000 2304 9216 26 8 4 256 true",
       .keys = "attention_bias=false sliding_window=4096 attn_logit_softcapping=50.0 "
               "final_logit_softcapping=30.0",
       .sandwich_norm = true,
       .full_every = 2,
       .rest = set_caps},
      {.names = "gemma3_text gemma3",
       .sizes = "262208 2304 9216 26 8 4 256 true",
       .keys = "attention_bias=false sliding_window=4096 sliding_window_pattern=null "
               "attn_logit_softcapping=null final_logit_softcapping=null",
       .qk_norm = true,
       .sandwich_norm = true,
       .full_every = 6,
       .rest = set_caps},
      {.names = "glm",
       .sizes = "151552 4096 13696 40 32 2 128 false",
       .keys = "attention_bias=true",
       .biases = Biases::qkv_stated},
      {.names = "glm4 glm4v_text glm4v",
       .sizes = "151552 4096 13696 40 32 2 128 false",
       .keys = "attention_bias=true",
       .sandwich_norm = true,
       .biases = Biases::qkv_stated},
      like_gpt2({.names = "gpt2",
                 .keys = "vocab_size=50257 n_positions=1024 n_embd=768 n_layer=12 n_head=12 "
                         "n_inner=null tie_word_embeddings=true resid_pdrop=0.1 attn_pdrop=0.1",
                 .positions = Positions::table}),
      like_gpt2({.names = "gpt_bigcode",
                 .keys = "vocab_size=50257 n_positions=1024 n_embd=768 n_layer=12 n_head=12 "
                         "n_inner=null tie_word_embeddings=true resid_pdrop=0.1 attn_pdrop=0.1 "
                         "multi_query=true",
                 .positions = Positions::table,
                 .rest = share_one_head}),
      like_gpt2({.names = "gpt_neo",
                 .keys = "vocab_size=50257 max_position_embeddings=2048 hidden_size=2048 "
                         "num_layers=24 num_heads=16 intermediate_size=null "
                         "tie_word_embeddings=true resid_dropout=0.0 attention_dropout=0.0",
                 .positions = Positions::table,
                 .notes = {"every second layer attends to a window: all layers have full attention",
                           "queries, keys and values have no biases: they have here"}}),
      like_gpt2({.names = "gpt_neox",
                 .sizes = "50432 6144 24576 44 64 - - false",
                 .keys = "use_parallel_residual=true hidden_dropout=0.0 attention_dropout=0.0"}),
      like_gpt2({.names = "gptj",
                 .keys = "vocab_size=50400 n_embd=4096 n_layer=28 n_head=16 n_inner=null "
                         "tie_word_embeddings=false resid_pdrop=0.0 attn_pdrop=0.0",
                 .notes = {kParallel, kHeadBias,
                           "the layers of attention have no biases: they have here"}}),
      {.names = "granite",
       .sizes = "32000 4096 11008 32 32 null null false",
       .keys = "attention_bias=false mlp_bias=false"},
      {.names = "helium",
       .sizes = "48000 2560 7040 24 20 20 128 false",
       .keys = "attention_bias=false mlp_bias=false"},
      {.names = "hunyuan_v1_dense",
       .sizes = "290943 4096 11008 32 32 null null false",
       .keys = "attention_bias=false",
       .qk_norm = true},
      {.names = "internlm",
       .sizes = "103168 4096 11008 32 32 null - false",
       .keys = "bias=true",
       .biases = Biases::qkv_stated},
      {.names = "internlm2",
       .sizes = "103168 4096 11008 32 32 null - false",
       .keys = "bias=true",
       .biases = Biases::qkv_stated},
      {.names = "internlm3",
       .sizes = "128512 4096 11008 32 32 32 null false",
       .keys = "bias=false qkv_bias=false"},
      {.names = "llama llava llava_next",
       .sizes = "32000 4096 11008 32 32 null null false",
       .keys = "attention_bias=false mlp_bias=false"},
      {.names = "mimo",
       .sizes = "151936 4096 22016 32 32 32 null false",
       .keys = "attention_bias=true use_sliding_window=false sliding_window=4096",
       .biases = Biases::qkv},
      {.names = "minicpm",
       .sizes = "32000 4096 11008 32 32 null - true",
       .keys = "attention_bias=false"},
      {.names = "minicpm3",
       .sizes = "73448 2560 6400 62 40 - - true",
       .keys = "kv_lora_rank=256 q_lora_rank=768 qk_nope_head_dim=64 qk_rope_head_dim=32 "
               "v_head_dim=64 attention_bias=false"},
      {.names = "ministral3",
       .sizes = "131072 4096 14336 34 32 8 128 false",
       .keys = "sliding_window=null"},
      {.names = "mistral mistral3 ministral",
       .sizes = "32000 4096 14336 32 32 8 null false",
       .keys = "sliding_window=4096"},
      {.names = "mpt",
       .keys = "vocab_size=50368 d_model=2048 n_layers=24 n_heads=16 expansion_ratio=4 "
               "max_seq_len=2048 learned_pos_emb=true attn_config.alibi=true "
               "attn_config.kv_n_heads=null attn_config.attn_type=null "
               "attn_config.qk_ln=false no_bias=true tie_word_embeddings=true "
               "resid_pdrop=0.0 attn_config.attn_pdrop=0.0",
       .rms_norm = false,
       .gated_mlp = false,
       .rest = rest_of_mpt},
      {.names = "nemotron",
       .sizes = "256000 6144 24576 32 48 null null false",
       .keys = "attention_bias=false mlp_bias=false",
       .rms_norm = false,
       .gated_mlp = false},
      {.names = "olmo",
       .sizes = "50304 4096 11008 32 32 null - false",
       .keys = "attention_bias=false",
       .rms_norm = false,
       .notes = {"norms have no weights: they have here"}},
      {.names = "olmo2",
       .sizes = "50304 4096 11008 32 32 null - false",
       .keys = "attention_bias=false",
       .qk_norm = true,
       .notes = {kNormsBehind, kWideNorms}},
      {.names = "olmo3",
       .sizes = "50304 4096 11008 32 32 null - false",
       .keys = "attention_bias=false sliding_window=4096",
       .qk_norm = true,
       .full_every = 4,
       .notes = {kNormsBehind, kWideNorms}},
      like_gpt2({.names = "opt",
                 .keys = "vocab_size=50272 d_model=768 ffn_dim=3072 num_hidden_layers=12 "
                         "num_attention_heads=12 max_position_embeddings=2048 "
                         "do_layer_norm_before=true tie_word_embeddings=true dropout=0.1 "
                         "attention_dropout=0.0",
                 .rest = rest_of_opt}),
      like_gpt2({.names = "persimmon",
                 .sizes = "262144 4096 16384 36 64 - - false",
                 .keys = "qk_layernorm=true hidden_dropout=0.0 attention_dropout=0.0"}),
      like_gpt2({.names = "phi",
                 .sizes = "51200 2048 8192 24 32 null - false",
                 .keys = "qk_layernorm=false resid_pdrop=0.0 attention_dropout=0.0",
                 .notes = {kParallel, kHeadBias}}),
      {.names = "phi3 phi3_v",
       .sizes = "32064 3072 8192 32 32 null - false",
       .keys = "sliding_window=null resid_pdrop=0.0 attention_dropout=0.0"},
      {.names = "phi4mm phi4_multimodal",
       .sizes = "200064 3072 8192 32 32 8 - false",
       .keys = "sliding_window=null resid_pdrop=0.0 attention_dropout=0.0",
       .notes = {"towers and adapters for images and sound are left out"}},
      {.names = "qwen",
       .sizes = "151936 4096 22016 32 32 - - false",
       .keys = "kv_channels=128",
       .biases = Biases::qkv,
       .rest = rest_of_qwen},
      {.names = "qwen2",
       .sizes = "151936 4096 22016 32 32 32 null false",
       .keys = "use_sliding_window=false sliding_window=4096",
       .biases = Biases::qkv},
      {.names = "qwen2_vl_text qwen2_vl qwen2_5_vl_text qwen2_5_vl qwen2_5_omni_text",
       .sizes = "152064 8192 29568 80 64 8 - false",
       .keys = "use_sliding_window=false sliding_window=4096",
       .biases = Biases::qkv},
      {.names = "qwen3",
       .sizes = "151936 4096 22016 32 32 32 128 false",
       .keys = "attention_bias=false use_sliding_window=false sliding_window=4096",
       .qk_norm = true},
      {.names = "qwen3_vl_text qwen3_vl",
       .sizes = "151936 4096 22016 32 32 32 128 false",
       .keys = "attention_bias=false",
       .qk_norm = true},
      {.names = "seed_oss",
       .sizes = "155136 4096 27648 64 80 8 128 false",
       .keys = "attention_bias=true mlp_bias=false residual_dropout=0.1 attention_dropout=0.1",
       .biases = Biases::qkv_stated},
      {.names = "smollm3",
       .sizes = "128256 2048 11008 36 16 4 - true",
       .keys = "attention_bias=false mlp_bias=false use_sliding_window=false "
               "sliding_window=null"},
      {.names = "stablelm",
       .sizes = "50304 2560 6912 32 32 32 - false",
       .keys = "use_qkv_bias=false qk_layernorm=false use_parallel_residual=false "
               "hidden_dropout=0.0 attention_dropout=0.0",
       .rms_norm = false},
      {.names = "starcoder2",
       .sizes = "49152 3072 12288 30 24 2 - true",
       .keys = "use_bias=true sliding_window=null residual_dropout=0.0 "
               "attention_dropout=0.0",
       .rms_norm = false,
       .gated_mlp = false},
      {.names = "t5",
       .keys = "num_layers=6 num_decoder_layers=null d_model=512 num_heads=8 d_kv=64 "
               "d_ff=2048 vocab_size=32128 relative_attention_num_buckets=32 "
               "tie_word_embeddings=true dropout_rate=0.1 is_encoder_decoder=true",
       .whole = t5_of_huggingface},
      {.names = "vaultgemma",
       .sizes = "256000 2304 9216 26 8 4 256 true",
       .keys = "attention_bias=false sliding_window=4096 attn_logit_softcapping=50.0 "
               "final_logit_softcapping=30.0",
       .full_every = 2,
       .rest = set_caps},
      {.names = "vit",
       .keys = "num_hidden_layers=12 hidden_size=768 num_attention_heads=12 "
               "intermediate_size=3072 image_size=224 patch_size=16 num_channels=3 "
               "num_labels=2 qkv_bias=true hidden_dropout_prob=0.0 "
               "attention_probs_dropout_prob=0.0",
       .whole = vit_of_huggingface},
  };
  return layouts;
}

}  // namespace stepsim
