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

}  // namespace

const std::vector<ModelLayout>& dense_huggingface_layouts() {
  static const std::vector<ModelLayout> layouts{
      {.names = "apertus",
       .defaults = "vocab_size=131072 hidden_size=4096 intermediate_size=14336 "
                   "num_hidden_layers=32 num_attention_heads=32 num_key_value_heads=null "
                   "head_dim=null tie_word_embeddings=false attention_bias=false",
       .gated_mlp = false,
       .qk_norm = true},
      {.names = "arcee",
       .defaults = "vocab_size=32000 hidden_size=2560 intermediate_size=18432 "
                   "num_hidden_layers=32 num_attention_heads=32 num_key_value_heads=null "
                   "head_dim=null tie_word_embeddings=false attention_bias=false mlp_bias=false",
       .gated_mlp = false},
      {.names = "baichuan",
       .defaults = "vocab_size=64000 hidden_size=4096 intermediate_size=11008 "
                   "num_hidden_layers=32 num_attention_heads=32 tie_word_embeddings=false",
       .rest = rest_of_baichuan},
      {.names = "bert",
       .defaults = "vocab_size=30522 hidden_size=768 intermediate_size=3072 num_hidden_layers=12 "
                   "num_attention_heads=12 max_position_embeddings=512 type_vocab_size=2 "
                   "tie_word_embeddings=true is_decoder=false hidden_dropout_prob=0.1 "
                   "attention_probs_dropout_prob=0.1",
       .whole = bert_of_huggingface},
      {.names = "bloom",
       .defaults = "vocab_size=250880 hidden_size=64 n_layer=2 n_head=8 n_inner=null "
                   "tie_word_embeddings=true hidden_dropout=0.0 attention_dropout=0.0",
       .rms_norm = false,
       .gated_mlp = false,
       .biases = Biases::all,
       .positions = Positions::alibi,
       .notes = {"the norm behind the embedding is left out"}},
      {.names = "chatglm",
       .defaults = "padded_vocab_size=65024 hidden_size=4096 ffn_hidden_size=13696 num_layers=28 "
                   "num_attention_heads=32 kv_channels=128 multi_query_attention=false "
                   "multi_query_group_num=1 add_bias_linear=false add_qkv_bias=false "
                   "tie_word_embeddings=false hidden_dropout=0.0 attention_dropout=0.0",
       .rest = rest_of_chatglm},
      {.names = "codegen",
       .defaults = "vocab_size=50400 n_embd=4096 n_layer=28 n_head=16 n_inner=null "
                   "tie_word_embeddings=false resid_pdrop=0.0 attn_pdrop=0.0",
       .rms_norm = false,
       .gated_mlp = false,
       .biases = Biases::all,
       .notes = {kParallel, kHeadBias, "the layers of attention have no biases: they have here"}},
      {.names = "cohere",
       .defaults = "vocab_size=256000 hidden_size=8192 intermediate_size=22528 "
                   "num_hidden_layers=40 num_attention_heads=64 num_key_value_heads=null "
                   "head_dim=null tie_word_embeddings=true attention_bias=false use_qk_norm=false",
       .rms_norm = false,
       .notes = {kParallel}},
      {.names = "cohere2",
       .defaults = "vocab_size=256000 hidden_size=8192 intermediate_size=22528 "
                   "num_hidden_layers=40 num_attention_heads=64 num_key_value_heads=null "
                   "head_dim=null tie_word_embeddings=true attention_bias=false "
                   "sliding_window=4096",
       .rms_norm = false,
       .notes = {kParallel}},
      {.names = "ernie4_5",
       .defaults = "vocab_size=103424 hidden_size=1024 intermediate_size=3072 "
                   "num_hidden_layers=18 num_attention_heads=16 num_key_value_heads=2 "
                   "head_dim=128 tie_word_embeddings=true use_bias=false"},
      {.names = "exaone",
       .defaults = "vocab_size=102400 hidden_size=2048 intermediate_size=null num_layers=32 "
                   "num_attention_heads=32 num_key_value_heads=null head_dim=null "
                   "tie_word_embeddings=true resid_dropout=0.0 "
                   "attention_dropout=0.0"},
      {.names = "exaone4",
       .defaults = "vocab_size=102400 hidden_size=4096 intermediate_size=16384 "
                   "num_hidden_layers=32 num_attention_heads=32 num_key_value_heads=32 "
                   "head_dim=null tie_word_embeddings=false sliding_window=4096",
       .qk_norm = true,
       .notes = {kNormsBehind}},
      {.names = "falcon RefinedWeb RefinedWebModel",
       .defaults = "vocab_size=65024 hidden_size=4544 num_hidden_layers=32 "
                   "num_attention_heads=71 n_head_kv=null ffn_hidden_size=null alibi=false "
                   "new_decoder_architecture=false multi_query=true parallel_attn=true bias=false "
                   "tie_word_embeddings=true hidden_dropout=0.0 attention_dropout=0.0",
       .rms_norm = false,
       .gated_mlp = false,
       .rest = rest_of_falcon},
      {.names = "gemma",
       .defaults = "vocab_size=256000 hidden_size=3072 intermediate_size=24576 "
                   "num_hidden_layers=28 num_attention_heads=16 num_key_value_heads=16 "
                   "head_dim=256 tie_word_embeddings=true attention_bias=false"},
      {.names = "gemma2",
       .defaults = "vocab_size=256000 hidden_size=2304 intermediate_size=9216 "
                   "num_hidden_layers=26 num_attention_heads=8 num_key_value_heads=4 "
                   "head_dim=256 tie_word_embeddings=true attention_bias=false "
                   "sliding_window=4096",
       .notes = {kFourNorms, kSoftCaps}},
      {.names = "gemma3_text gemma3",
       .defaults = "vocab_size=262208 hidden_size=2304 intermediate_size=9216 "
                   "num_hidden_layers=26 num_attention_heads=8 num_key_value_heads=4 "
                   "head_dim=256 tie_word_embeddings=true attention_bias=false "
                   "sliding_window=4096",
       .qk_norm = true,
       .notes = {kFourNorms}},
      {.names = "glm",
       .defaults = "vocab_size=151552 hidden_size=4096 intermediate_size=13696 "
                   "num_hidden_layers=40 num_attention_heads=32 num_key_value_heads=2 "
                   "head_dim=128 tie_word_embeddings=false attention_bias=true",
       .biases = Biases::qkv_stated},
      {.names = "glm4 glm4v_text glm4v",
       .defaults = "vocab_size=151552 hidden_size=4096 intermediate_size=13696 "
                   "num_hidden_layers=40 num_attention_heads=32 num_key_value_heads=2 "
                   "head_dim=128 tie_word_embeddings=false attention_bias=true",
       .biases = Biases::qkv_stated,
       .notes = {kFourNorms}},
      {.names = "gpt2",
       .defaults = "vocab_size=50257 n_positions=1024 n_embd=768 n_layer=12 n_head=12 "
                   "n_inner=null tie_word_embeddings=true resid_pdrop=0.1 attn_pdrop=0.1",
       .rms_norm = false,
       .gated_mlp = false,
       .biases = Biases::all,
       .positions = Positions::table},
      {.names = "gpt_bigcode",
       .defaults = "vocab_size=50257 n_positions=1024 n_embd=768 n_layer=12 n_head=12 "
                   "n_inner=null tie_word_embeddings=true resid_pdrop=0.1 attn_pdrop=0.1 "
                   "multi_query=true",
       .rms_norm = false,
       .gated_mlp = false,
       .biases = Biases::all,
       .positions = Positions::table,
       .rest = share_one_head},
      {.names = "gpt_neo",
       .defaults = "vocab_size=50257 max_position_embeddings=2048 hidden_size=2048 num_layers=24 "
                   "num_heads=16 intermediate_size=null tie_word_embeddings=true "
                   "resid_dropout=0.0 attention_dropout=0.0",
       .rms_norm = false,
       .gated_mlp = false,
       .biases = Biases::all,
       .positions = Positions::table,
       .notes = {"every second layer attends to a window: all layers have full attention",
                 "queries, keys and values have no biases: they have here"}},
      {.names = "gpt_neox",
       .defaults = "vocab_size=50432 hidden_size=6144 intermediate_size=24576 "
                   "num_hidden_layers=44 num_attention_heads=64 tie_word_embeddings=false "
                   "use_parallel_residual=true hidden_dropout=0.0 attention_dropout=0.0",
       .rms_norm = false,
       .gated_mlp = false,
       .biases = Biases::all},
      {.names = "gptj",
       .defaults = "vocab_size=50400 n_embd=4096 n_layer=28 n_head=16 n_inner=null "
                   "tie_word_embeddings=false resid_pdrop=0.0 attn_pdrop=0.0",
       .rms_norm = false,
       .gated_mlp = false,
       .biases = Biases::all,
       .notes = {kParallel, kHeadBias, "the layers of attention have no biases: they have here"}},
      {.names = "granite",
       .defaults = "vocab_size=32000 hidden_size=4096 intermediate_size=11008 "
                   "num_hidden_layers=32 num_attention_heads=32 num_key_value_heads=null "
                   "head_dim=null tie_word_embeddings=false attention_bias=false mlp_bias=false"},
      {.names = "hunyuan_v1_dense",
       .defaults = "vocab_size=290943 hidden_size=4096 intermediate_size=11008 "
                   "num_hidden_layers=32 num_attention_heads=32 num_key_value_heads=null "
                   "head_dim=null tie_word_embeddings=false attention_bias=false",
       .qk_norm = true},
      {.names = "internlm",
       .defaults = "vocab_size=103168 hidden_size=4096 intermediate_size=11008 "
                   "num_hidden_layers=32 num_attention_heads=32 num_key_value_heads=null "
                   "tie_word_embeddings=false bias=true",
       .biases = Biases::qkv_stated},
      {.names = "internlm2",
       .defaults = "vocab_size=103168 hidden_size=4096 intermediate_size=11008 "
                   "num_hidden_layers=32 num_attention_heads=32 num_key_value_heads=null "
                   "tie_word_embeddings=false bias=true",
       .biases = Biases::qkv_stated},
      {.names = "llama llava llava_next",
       .defaults = "vocab_size=32000 hidden_size=4096 intermediate_size=11008 "
                   "num_hidden_layers=32 num_attention_heads=32 num_key_value_heads=null "
                   "head_dim=null tie_word_embeddings=false attention_bias=false mlp_bias=false"},
      {.names = "minicpm",
       .defaults = "vocab_size=32000 hidden_size=4096 intermediate_size=11008 "
                   "num_hidden_layers=32 num_attention_heads=32 num_key_value_heads=null "
                   "tie_word_embeddings=true attention_bias=false"},
      {.names = "ministral3",
       .defaults = "vocab_size=131072 hidden_size=4096 intermediate_size=14336 "
                   "num_hidden_layers=34 num_attention_heads=32 num_key_value_heads=8 "
                   "head_dim=128 tie_word_embeddings=false sliding_window=null"},
      {.names = "mistral mistral3 ministral",
       .defaults = "vocab_size=32000 hidden_size=4096 intermediate_size=14336 "
                   "num_hidden_layers=32 num_attention_heads=32 num_key_value_heads=8 "
                   "head_dim=null tie_word_embeddings=false sliding_window=4096"},
      {.names = "mpt",
       .defaults = "vocab_size=50368 d_model=2048 n_layers=24 n_heads=16 expansion_ratio=4 "
                   "max_seq_len=2048 learned_pos_emb=true attn_config.alibi=true "
                   "attn_config.qk_ln=false no_bias=true tie_word_embeddings=true "
                   "resid_pdrop=0.0 attn_config.attn_pdrop=0.0",
       .rms_norm = false,
       .gated_mlp = false,
       .rest = rest_of_mpt},
      {.names = "nemotron",
       .defaults = "vocab_size=256000 hidden_size=6144 intermediate_size=24576 "
                   "num_hidden_layers=32 num_attention_heads=48 num_key_value_heads=null "
                   "head_dim=null tie_word_embeddings=false attention_bias=false mlp_bias=false",
       .rms_norm = false,
       .gated_mlp = false},
      {.names = "olmo",
       .defaults = "vocab_size=50304 hidden_size=4096 intermediate_size=11008 "
                   "num_hidden_layers=32 num_attention_heads=32 num_key_value_heads=null "
                   "tie_word_embeddings=false attention_bias=false",
       .rms_norm = false,
       .notes = {"norms have no weights: they have here"}},
      {.names = "olmo2",
       .defaults = "vocab_size=50304 hidden_size=4096 intermediate_size=11008 "
                   "num_hidden_layers=32 num_attention_heads=32 num_key_value_heads=null "
                   "tie_word_embeddings=false attention_bias=false",
       .qk_norm = true,
       .notes = {kNormsBehind, kWideNorms}},
      {.names = "olmo3",
       .defaults = "vocab_size=50304 hidden_size=4096 intermediate_size=11008 "
                   "num_hidden_layers=32 num_attention_heads=32 num_key_value_heads=null "
                   "tie_word_embeddings=false attention_bias=false sliding_window=4096",
       .qk_norm = true,
       .notes = {kNormsBehind, kWideNorms}},
      {.names = "opt",
       .defaults = "vocab_size=50272 d_model=768 ffn_dim=3072 num_hidden_layers=12 "
                   "num_attention_heads=12 max_position_embeddings=2048 "
                   "do_layer_norm_before=true tie_word_embeddings=true dropout=0.1 "
                   "attention_dropout=0.0",
       .rms_norm = false,
       .gated_mlp = false,
       .biases = Biases::all,
       .rest = rest_of_opt},
      {.names = "persimmon",
       .defaults = "vocab_size=262144 hidden_size=4096 intermediate_size=16384 "
                   "num_hidden_layers=36 num_attention_heads=64 tie_word_embeddings=false "
                   "qk_layernorm=true hidden_dropout=0.0 attention_dropout=0.0",
       .rms_norm = false,
       .gated_mlp = false,
       .biases = Biases::all},
      {.names = "phi",
       .defaults = "vocab_size=51200 hidden_size=2048 intermediate_size=8192 "
                   "num_hidden_layers=24 num_attention_heads=32 num_key_value_heads=null "
                   "tie_word_embeddings=false qk_layernorm=false resid_pdrop=0.0 "
                   "attention_dropout=0.0",
       .rms_norm = false,
       .gated_mlp = false,
       .biases = Biases::all,
       .notes = {kParallel, kHeadBias}},
      {.names = "phi3",
       .defaults = "vocab_size=32064 hidden_size=3072 intermediate_size=8192 "
                   "num_hidden_layers=32 num_attention_heads=32 num_key_value_heads=null "
                   "tie_word_embeddings=false sliding_window=null resid_pdrop=0.0 "
                   "attention_dropout=0.0"},
      {.names = "qwen",
       .defaults = "vocab_size=151936 hidden_size=4096 intermediate_size=22016 "
                   "num_hidden_layers=32 num_attention_heads=32 kv_channels=128 "
                   "tie_word_embeddings=false",
       .biases = Biases::qkv,
       .rest = rest_of_qwen},
      {.names = "qwen2",
       .defaults = "vocab_size=151936 hidden_size=4096 intermediate_size=22016 "
                   "num_hidden_layers=32 num_attention_heads=32 num_key_value_heads=32 "
                   "head_dim=null tie_word_embeddings=false use_sliding_window=false "
                   "sliding_window=4096",
       .biases = Biases::qkv},
      {.names = "qwen2_vl_text qwen2_vl qwen2_5_vl_text qwen2_5_vl",
       .defaults = "vocab_size=152064 hidden_size=8192 intermediate_size=29568 "
                   "num_hidden_layers=80 num_attention_heads=64 num_key_value_heads=8 "
                   "tie_word_embeddings=false use_sliding_window=false sliding_window=4096",
       .biases = Biases::qkv},
      {.names = "qwen3",
       .defaults = "vocab_size=151936 hidden_size=4096 intermediate_size=22016 "
                   "num_hidden_layers=32 num_attention_heads=32 num_key_value_heads=32 "
                   "head_dim=128 tie_word_embeddings=false attention_bias=false "
                   "use_sliding_window=false sliding_window=4096",
       .qk_norm = true},
      {.names = "qwen3_vl_text qwen3_vl",
       .defaults = "vocab_size=151936 hidden_size=4096 intermediate_size=22016 "
                   "num_hidden_layers=32 num_attention_heads=32 num_key_value_heads=32 "
                   "head_dim=128 tie_word_embeddings=false attention_bias=false",
       .qk_norm = true},
      {.names = "seed_oss",
       .defaults = "vocab_size=155136 hidden_size=4096 intermediate_size=27648 "
                   "num_hidden_layers=64 num_attention_heads=80 num_key_value_heads=8 "
                   "head_dim=128 tie_word_embeddings=false attention_bias=true "
                   "attention_out_bias=false mlp_bias=false residual_dropout=0.1 "
                   "attention_dropout=0.1",
       .biases = Biases::qkv_stated},
      {.names = "smollm3",
       .defaults = "vocab_size=128256 hidden_size=2048 intermediate_size=11008 "
                   "num_hidden_layers=36 num_attention_heads=16 num_key_value_heads=4 "
                   "tie_word_embeddings=true attention_bias=false mlp_bias=false "
                   "use_sliding_window=false sliding_window=null"},
      {.names = "stablelm",
       .defaults = "vocab_size=50304 hidden_size=2560 intermediate_size=6912 "
                   "num_hidden_layers=32 num_attention_heads=32 num_key_value_heads=32 "
                   "tie_word_embeddings=false use_qkv_bias=false qk_layernorm=false "
                   "use_parallel_residual=false hidden_dropout=0.0 attention_dropout=0.0",
       .rms_norm = false},
      {.names = "starcoder2",
       .defaults = "vocab_size=49152 hidden_size=3072 intermediate_size=12288 "
                   "num_hidden_layers=30 num_attention_heads=24 num_key_value_heads=2 "
                   "tie_word_embeddings=true use_bias=true sliding_window=null "
                   "residual_dropout=0.0 attention_dropout=0.0",
       .rms_norm = false,
       .gated_mlp = false},
      {.names = "t5",
       .defaults = "num_layers=6 num_decoder_layers=null d_model=512 num_heads=8 d_kv=64 "
                   "d_ff=2048 vocab_size=32128 relative_attention_num_buckets=32 "
                   "tie_word_embeddings=true dropout_rate=0.1 is_encoder_decoder=true",
       .whole = t5_of_huggingface},
      {.names = "vit",
       .defaults = "num_hidden_layers=12 hidden_size=768 num_attention_heads=12 "
                   "intermediate_size=3072 image_size=224 patch_size=16 num_channels=3 "
                   "num_labels=2 qkv_bias=true hidden_dropout_prob=0.0 "
                   "attention_probs_dropout_prob=0.0",
       .whole = vit_of_huggingface},
  };
  return layouts;
}

}  // namespace stepsim
