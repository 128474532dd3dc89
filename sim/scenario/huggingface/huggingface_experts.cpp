// Layouts with experts, a row each.
#include "sim/scenario/huggingface/huggingface_table.hpp"
#include "sim/scenario/huggingface/huggingface_translation.hpp"

namespace stepsim {

const std::vector<ModelLayout>& expert_huggingface_layouts() {
  static const std::vector<ModelLayout> layouts{
      {.names = "dbrx",
       .defaults = "vocab_size=32000 d_model=2048 n_layers=24 n_heads=16 attn_config.kv_n_heads=1 "
                   "ffn_config.ffn_hidden_size=3584 ffn_config.moe_num_experts=4 "
                   "ffn_config.moe_top_k=1 tie_word_embeddings=false resid_pdrop=0.0 "
                   "attn_config.attn_pdrop=0.0",
       .rms_norm = false},
      {.names = "deepseek",
       .defaults = "vocab_size=102400 hidden_size=4096 intermediate_size=11008 "
                   "moe_intermediate_size=1407 num_hidden_layers=30 num_attention_heads=32 "
                   "num_key_value_heads=32 n_shared_experts=null n_routed_experts=null "
                   "num_experts_per_tok=null moe_layer_freq=1 first_k_dense_replace=0 "
                   "tie_word_embeddings=false attention_bias=false"},
      {.names = "deepseek_v2",
       .defaults = "vocab_size=32000 hidden_size=4096 intermediate_size=11008 "
                   "moe_intermediate_size=1407 num_hidden_layers=32 num_attention_heads=32 "
                   "n_shared_experts=2 n_routed_experts=64 num_experts_per_tok=null "
                   "first_k_dense_replace=0 moe_layer_freq=1 kv_lora_rank=512 q_lora_rank=1536 "
                   "qk_nope_head_dim=128 qk_rope_head_dim=64 v_head_dim=128 "
                   "tie_word_embeddings=false attention_bias=false"},
      {.names = "deepseek_v3 kimi_k2",
       .defaults = "vocab_size=129280 hidden_size=7168 intermediate_size=18432 "
                   "moe_intermediate_size=2048 num_hidden_layers=61 num_attention_heads=128 "
                   "n_shared_experts=1 n_routed_experts=256 num_experts_per_tok=8 "
                   "first_k_dense_replace=3 moe_layer_freq=1 kv_lora_rank=512 q_lora_rank=1536 "
                   "qk_nope_head_dim=128 qk_rope_head_dim=64 v_head_dim=128 "
                   "tie_word_embeddings=false attention_bias=false"},
      {.names = "dots1",
       .defaults = "vocab_size=152064 hidden_size=4608 intermediate_size=10944 "
                   "moe_intermediate_size=1408 num_hidden_layers=62 num_attention_heads=32 "
                   "num_key_value_heads=32 head_dim=null n_shared_experts=null "
                   "n_routed_experts=null num_experts_per_tok=null first_k_dense_replace=0 "
                   "tie_word_embeddings=false attention_bias=false",
       .qk_norm = true},
      {.names = "ernie4_5_moe",
       .defaults = "vocab_size=103424 hidden_size=2560 intermediate_size=12288 "
                   "num_hidden_layers=28 num_attention_heads=20 num_key_value_heads=4 "
                   "head_dim=null moe_intermediate_size=1536 moe_k=6 moe_num_experts=64 "
                   "moe_num_shared_experts=2 moe_layer_start_index=1 moe_layer_interval=1 "
                   "tie_word_embeddings=true use_bias=false"},
      {.names = "glm4_moe glm4v_moe_text glm4v_moe",
       .defaults = "vocab_size=151552 hidden_size=4096 intermediate_size=10944 "
                   "moe_intermediate_size=1408 num_hidden_layers=46 num_attention_heads=96 "
                   "num_key_value_heads=8 head_dim=null n_routed_experts=128 "
                   "n_shared_experts=1 num_experts_per_tok=8 first_k_dense_replace=1 "
                   "tie_word_embeddings=false attention_bias=false use_qk_norm=false",
       .biases = Biases::qkv_stated},
      {.names = "gpt_oss",
       .defaults =
           "vocab_size=201088 hidden_size=2880 intermediate_size=2880 "
           "num_hidden_layers=36 num_attention_heads=64 num_key_value_heads=8 head_dim=64 "
           "num_local_experts=128 num_experts_per_tok=4 sliding_window=128 attention_bias=true "
           "tie_word_embeddings=false",
       .biases = Biases::all,
       .notes = {"attention's sinks, and biases of experts and router, are left out"}},
      {.names = "granitemoe",
       .defaults = "vocab_size=32000 hidden_size=4096 intermediate_size=11008 "
                   "num_hidden_layers=32 num_attention_heads=32 num_key_value_heads=null "
                   "head_dim=null num_local_experts=8 num_experts_per_tok=2 "
                   "tie_word_embeddings=false attention_bias=false"},
      {.names = "granitemoeshared",
       .defaults = "vocab_size=32000 hidden_size=4096 intermediate_size=11008 "
                   "shared_intermediate_size=1024 num_hidden_layers=32 num_attention_heads=32 "
                   "num_key_value_heads=null head_dim=null num_local_experts=8 "
                   "num_experts_per_tok=2 tie_word_embeddings=false attention_bias=false"},
      {.names = "llama4_text llama4",
       .defaults = "vocab_size=202048 hidden_size=5120 intermediate_size=8192 "
                   "intermediate_size_mlp=16384 num_hidden_layers=48 num_attention_heads=40 "
                   "num_key_value_heads=8 head_dim=128 num_local_experts=16 "
                   "num_experts_per_tok=1 moe_layers=null interleave_moe_layer_step=1 "
                   "attention_chunk_size=8192 use_qk_norm=true tie_word_embeddings=false "
                   "attention_bias=false",
       .shared_experts = 1,
       .rest = [](Translation& t) { t.copy("ffn", {"intermediate_size_mlp"}); }},
      {.names = "minimax_m2",
       .defaults = "vocab_size=200064 hidden_size=3072 intermediate_size=1536 "
                   "num_hidden_layers=62 num_attention_heads=48 num_key_value_heads=8 "
                   "head_dim=128 num_local_experts=256 num_experts_per_tok=8 "
                   "tie_word_embeddings=false",
       .qk_norm = true,
       .notes = {kWideNorms}},
      {.names = "mixtral",
       .defaults = "vocab_size=32000 hidden_size=4096 intermediate_size=14336 "
                   "num_hidden_layers=32 num_attention_heads=32 num_key_value_heads=8 "
                   "head_dim=null num_local_experts=8 num_experts_per_tok=2 "
                   "tie_word_embeddings=false sliding_window=null"},
      {.names = "olmoe",
       .defaults = "vocab_size=50304 hidden_size=2048 intermediate_size=2048 "
                   "num_hidden_layers=16 num_attention_heads=16 num_key_value_heads=null "
                   "num_experts=64 num_experts_per_tok=8 tie_word_embeddings=false "
                   "attention_bias=false",
       .qk_norm = true,
       .notes = {kWideNorms}},
      {.names = "phimoe",
       .defaults = "vocab_size=32064 hidden_size=4096 intermediate_size=6400 "
                   "num_hidden_layers=32 num_attention_heads=32 num_key_value_heads=8 "
                   "num_local_experts=16 num_experts_per_tok=2 tie_word_embeddings=false "
                   "attention_bias=false sliding_window=null",
       .rms_norm = false},
      {.names = "qwen2_moe",
       .defaults = "vocab_size=151936 hidden_size=2048 intermediate_size=5632 "
                   "moe_intermediate_size=1408 shared_expert_intermediate_size=5632 "
                   "num_hidden_layers=24 num_attention_heads=16 num_key_value_heads=16 "
                   "num_experts=60 num_experts_per_tok=4 mlp_only_layers=null "
                   "decoder_sparse_step=1 qkv_bias=true tie_word_embeddings=false "
                   "use_sliding_window=false sliding_window=4096",
       .notes = {"the gate of the shared expert is left out"}},
      {.names = "qwen3_moe",
       .defaults = "vocab_size=151936 hidden_size=2048 intermediate_size=6144 "
                   "moe_intermediate_size=768 num_hidden_layers=24 num_attention_heads=32 "
                   "num_key_value_heads=4 head_dim=null num_experts=128 num_experts_per_tok=8 "
                   "mlp_only_layers=null decoder_sparse_step=1 tie_word_embeddings=false "
                   "attention_bias=false use_sliding_window=false sliding_window=4096",
       .qk_norm = true},
      {.names = "qwen3_vl_moe_text qwen3_vl_moe",
       .defaults = "vocab_size=151936 hidden_size=2048 intermediate_size=5632 "
                   "moe_intermediate_size=1408 num_hidden_layers=24 num_attention_heads=16 "
                   "num_key_value_heads=16 head_dim=null num_experts=60 num_experts_per_tok=4 "
                   "mlp_only_layers=null decoder_sparse_step=1 tie_word_embeddings=true "
                   "attention_bias=false",
       .qk_norm = true},
  };
  return layouts;
}

}  // namespace stepsim
