// Layouts with experts, a row each.
#include "sim/scenario/huggingface/huggingface_table.hpp"
#include "sim/scenario/huggingface/huggingface_translation.hpp"

namespace stepsim {

// NOLINTNEXTLINE(readability-function-size): a table
const std::vector<ModelLayout>& expert_huggingface_layouts() {
  static const std::vector<ModelLayout> layouts{
      {.names = "aria_moe_lm",
       .sizes = "32000 4096 11008 32 32 null null false",
       .keys = "moe_intermediate_size=4096 moe_num_experts=8 moe_topk=2 moe_num_shared_experts=2 "
               "attention_bias=false mlp_bias=false"},
      {.names = "aria_text",
       .sizes = "32000 4096 4096 32 32 null null false",
       .keys = "moe_num_experts=8 moe_topk=2 moe_num_shared_experts=2 attention_bias=false "
               "mlp_bias=false"},
      {.names = "bailing_moe bailing_moe_v2",
       .sizes = "30592 1024 null 24 16 null null false",
       .keys = "moe_intermediate_size=null num_experts=16 num_experts_per_tok=2 "
               "num_shared_experts=0 first_k_dense_replace=0 use_bias=false use_qkv_bias=false "
               "use_qk_norm=false"},
      {.names = "dbrx",
       .keys = "vocab_size=32000 d_model=2048 n_layers=24 n_heads=16 "
               "attn_config.kv_n_heads=1 ffn_config.ffn_hidden_size=3584 "
               "ffn_config.moe_num_experts=4 ffn_config.moe_top_k=1 "
               "tie_word_embeddings=false resid_pdrop=0.0 attn_config.attn_pdrop=0.0",
       .rms_norm = false},
      {.names = "deepseek",
       .sizes = "102400 4096 11008 30 32 32 - false",
       .keys = "moe_intermediate_size=1407 n_shared_experts=null n_routed_experts=null "
               "num_experts_per_tok=null moe_layer_freq=1 first_k_dense_replace=0 "
               "attention_bias=false"},
      {.names = "deepseek_v2",
       .sizes = "32000 4096 11008 32 32 - - false",
       .keys = "moe_intermediate_size=1407 n_shared_experts=2 n_routed_experts=64 "
               "num_experts_per_tok=null first_k_dense_replace=0 moe_layer_freq=1 "
               "kv_lora_rank=512 q_lora_rank=1536 qk_nope_head_dim=128 "
               "qk_rope_head_dim=64 v_head_dim=128 attention_bias=false"},
      {.names = "deepseek_v3 kimi_k2",
       .sizes = "129280 7168 18432 61 128 - - false",
       .keys = "moe_intermediate_size=2048 n_shared_experts=1 n_routed_experts=256 "
               "num_experts_per_tok=8 first_k_dense_replace=3 moe_layer_freq=1 "
               "kv_lora_rank=512 q_lora_rank=1536 qk_nope_head_dim=128 "
               "qk_rope_head_dim=64 v_head_dim=128 attention_bias=false"},
      {.names = "deepseek_v32",
       .sizes = "129280 7168 18432 61 128 - - false",
       .keys = "moe_intermediate_size=2048 n_shared_experts=1 n_routed_experts=256 "
               "num_experts_per_tok=8 first_k_dense_replace=3 moe_layer_freq=1 "
               "kv_lora_rank=512 q_lora_rank=1536 qk_nope_head_dim=128 "
               "qk_rope_head_dim=64 v_head_dim=128 index_head_dim=null index_n_heads=null "
               "index_topk=null attention_bias=false",
       .notes = {kIndex}},
      {.names = "dots1",
       .sizes = "152064 4608 10944 62 32 32 null false",
       .keys = "moe_intermediate_size=1408 n_shared_experts=null n_routed_experts=null "
               "num_experts_per_tok=null moe_layer_freq=null first_k_dense_replace=0 "
               "attention_bias=false",
       .qk_norm = true},
      {.names = "ernie4_5_moe",
       .sizes = "103424 2560 12288 28 20 4 null true",
       .keys = "moe_intermediate_size=1536 moe_k=6 moe_num_experts=64 "
               "moe_num_shared_experts=2 moe_layer_start_index=1 moe_layer_interval=1 "
               "use_bias=false"},
      {.names = "flex_olmo",
       .sizes = "100352 4096 11008 32 32 null - false",
       .keys = "num_experts=7 num_experts_per_tok=5 attention_bias=false",
       .qk_norm = true,
       .notes = {kNormsBehind, kWideNorms}},
      {.names = "glm4_moe glm4v_moe_text glm4v_moe",
       .sizes = "151552 4096 10944 46 96 8 null false",
       .keys = "moe_intermediate_size=1408 n_routed_experts=128 n_shared_experts=1 "
               "num_experts_per_tok=8 first_k_dense_replace=1 attention_bias=false "
               "use_qk_norm=false",
       .biases = Biases::qkv_stated},
      {.names = "glm4_moe_lite",
       .sizes = "154880 2048 10240 47 20 - - false",
       .keys = "moe_intermediate_size=1536 n_shared_experts=1 n_routed_experts=64 "
               "num_experts_per_tok=4 first_k_dense_replace=1 mlp_layer_types=null "
               "kv_lora_rank=512 q_lora_rank=768 qk_nope_head_dim=192 "
               "qk_rope_head_dim=64 v_head_dim=256 attention_bias=false"},
      {.names = "glm_moe_dsa",
       .sizes = "154880 6144 12288 78 64 - - false",
       .keys = "moe_intermediate_size=2048 n_shared_experts=1 n_routed_experts=256 "
               "num_experts_per_tok=8 first_k_dense_replace=3 mlp_layer_types=null "
               "kv_lora_rank=512 q_lora_rank=2048 qk_nope_head_dim=192 "
               "qk_rope_head_dim=64 v_head_dim=256 index_head_dim=null index_n_heads=null "
               "index_topk=null moe_layer_freq=null attention_bias=false",
       .notes = {kIndex}},
      {.names = "gpt_oss",
       .sizes = "201088 2880 2880 36 64 8 64 false",
       .keys = "num_local_experts=128 num_experts_per_tok=4 sliding_window=128 "
               "attention_bias=true swiglu_limit=7.0 rope_scaling.factor=32",
       .sinks = true,
       .expert_bias = true,
       .biases = Biases::all,
       .full_every = 2},
      {.names = "granitemoe",
       .sizes = "32000 4096 11008 32 32 null null false",
       .keys = "num_local_experts=8 num_experts_per_tok=2 attention_bias=false"},
      {.names = "granitemoeshared",
       .sizes = "32000 4096 11008 32 32 null null false",
       .keys = "shared_intermediate_size=1024 num_local_experts=8 num_experts_per_tok=2 "
               "attention_bias=false"},
      {.names = "hunyuan_v1_moe",
       .sizes = "290943 4096 11008 32 32 null null false",
       .keys = "moe_intermediate_size=null num_experts=null moe_topk=1 num_shared_expert=1 "
               "attention_bias=false",
       .qk_norm = true},
      {.names = "llama4_text llama4",
       .sizes = "202048 5120 8192 48 40 8 128 false",
       .keys = "intermediate_size_mlp=16384 num_local_experts=16 num_experts_per_tok=1 "
               "moe_layers=null interleave_moe_layer_step=1 attention_chunk_size=8192 "
               "use_qk_norm=true attention_bias=false",
       .full_every = 4,
       .shared_experts = 1,
       .rest = [](Translation& t) { t.copy("ffn", {"intermediate_size_mlp"}); }},
      {.names = "minimax_m2",
       .sizes = "200064 3072 1536 62 48 8 128 false",
       .keys = "num_local_experts=256 num_experts_per_tok=8",
       .qk_norm = true,
       .notes = {kWideNorms}},
      {.names = "mistral4",
       .sizes = "131072 4096 12288 36 32 - - false",
       .keys = "moe_intermediate_size=2048 n_shared_experts=1 n_routed_experts=128 "
               "num_experts_per_tok=4 first_k_dense_replace=0 kv_lora_rank=256 "
               "q_lora_rank=1024 qk_nope_head_dim=64 qk_rope_head_dim=64 v_head_dim=128 "
               "attention_bias=false"},
      {.names = "mixtral",
       .sizes = "32000 4096 14336 32 32 8 null false",
       .keys = "num_local_experts=8 num_experts_per_tok=2 sliding_window=null"},
      {.names = "olmoe",
       .sizes = "50304 2048 2048 16 16 null - false",
       .keys = "num_experts=64 num_experts_per_tok=8 attention_bias=false",
       .qk_norm = true,
       .notes = {kWideNorms}},
      {.names = "phimoe",
       .sizes = "32064 4096 6400 32 32 8 - false",
       .keys = "num_local_experts=16 num_experts_per_tok=2 attention_bias=false "
               "sliding_window=null",
       .rms_norm = false},
      {.names = "qwen2_moe",
       .sizes = "151936 2048 5632 24 16 16 - false",
       .keys = "moe_intermediate_size=1408 shared_expert_intermediate_size=5632 "
               "num_experts=60 num_experts_per_tok=4 mlp_only_layers=null "
               "decoder_sparse_step=1 qkv_bias=true use_sliding_window=false "
               "sliding_window=4096",
       .shared_gate = true},
      {.names = "qwen3_moe qwen3_omni_moe_text",
       .sizes = "151936 2048 6144 24 32 4 null false",
       .keys = "moe_intermediate_size=768 num_experts=128 num_experts_per_tok=8 "
               "mlp_only_layers=null decoder_sparse_step=1 attention_bias=false "
               "use_sliding_window=false sliding_window=4096",
       .qk_norm = true},
      {.names = "qwen3_vl_moe_text qwen3_vl_moe",
       .sizes = "151936 2048 5632 24 16 16 null true",
       .keys = "moe_intermediate_size=1408 num_experts=60 num_experts_per_tok=4 "
               "mlp_only_layers=null decoder_sparse_step=1 attention_bias=false",
       .qk_norm = true},
  };
  return layouts;
}

}  // namespace stepsim
