// Configs of published decoders: each has the published number of parameters.
//
// The dimensions are those of the config.json of each model on Hugging Face, where a key is left
// out that has its class's default. Counts are those of the checkpoints there (model cards,
// "Model size"), without towers for images and without layers that predict further tokens.
#include <string>
#include <string_view>

#include <doctest/doctest.h>

#include "sim/ops/blocks.hpp"
#include "sim/scenario/load.hpp"
#include "tests/temporary_folder.hpp"

using namespace stepsim;

namespace {

struct Published {
  std::string_view type, model;
  double parameters;
  std::string_view keys;
};

constexpr Published kPublished[] = {
    {"apertus", "Apertus-8B", 8'053'338'176,
     R"("intermediate_size": 21504, "num_key_value_heads": 8)"},
    {"aria_moe_lm", "Aria", 24'869'091'840, R"("vocab_size": 100352, "hidden_size": 2560,
      "moe_intermediate_size": 1664, "moe_num_experts": 64, "moe_topk": 6, "num_hidden_layers": 28,
      "num_attention_heads": 20, "num_key_value_heads": 20)"},
    {"bailing_moe", "Ling-lite-1.5", 16'801'974'272, R"("vocab_size": 126464, "hidden_size": 2048,
      "intermediate_size": 1408, "moe_intermediate_size": 1408, "num_hidden_layers": 28,
      "num_attention_heads": 16, "num_key_value_heads": 4, "num_experts": 64,
      "num_shared_experts": 2, "num_experts_per_tok": 6)"},
    {"bailing_moe_v2", "Ling-mini-2.0", 16'255'643'392, R"("vocab_size": 157184,
      "hidden_size": 2048, "intermediate_size": 5120, "moe_intermediate_size": 512,
      "num_hidden_layers": 20, "num_attention_heads": 16, "num_key_value_heads": 4,
      "head_dim": 128, "num_experts": 256, "num_shared_experts": 1, "num_experts_per_tok": 8,
      "first_k_dense_replace": 1, "use_qk_norm": true)"},
    {"baichuan", "Baichuan2-7B", 7'505'973'248,
     R"("vocab_size": 125696, "max_position_embeddings": 4096, "model_max_length": 4096)"},
    {"bloom", "bloom", 176'247'271'424, R"("n_embed": 14336, "n_layer": 70,
      "num_attention_heads": 112)"},
    {"chatglm", "chatglm3-6b", 6'243'584'000, R"("num_layers": 28, "multi_query_attention": true,
      "multi_query_group_num": 2, "add_qkv_bias": true, "kv_channels": 128)"},
    {"cohere", "c4ai-command-r-v01", 34'980'831'232, R"("num_key_value_heads": 64)"},
    {"cohere2", "c4ai-command-r7b-12-2024", 8'027'967'488, R"("hidden_size": 4096,
      "intermediate_size": 14336, "num_hidden_layers": 32, "num_attention_heads": 32,
      "num_key_value_heads": 8)"},
    {"cwm", "cwm", 32'580'000'000, ""},
    {"dbrx", "dbrx-base", 131'596'523'520, R"("d_model": 6144, "n_heads": 48, "n_layers": 40,
      "vocab_size": 100352, "attn_config": {"kv_n_heads": 8, "clip_qkv": 8},
      "ffn_config": {"ffn_hidden_size": 10752, "moe_num_experts": 16, "moe_top_k": 4})"},
    {"deepseek", "deepseek-moe-16b", 16'375'728'128, R"("hidden_size": 2048,
      "intermediate_size": 10944, "moe_intermediate_size": 1408, "num_hidden_layers": 28,
      "num_attention_heads": 16, "num_key_value_heads": 16, "n_routed_experts": 64,
      "n_shared_experts": 2, "num_experts_per_tok": 6, "first_k_dense_replace": 1)"},
    {"deepseek_v2", "DeepSeek-V2-Lite", 15'706'484'224, R"("hidden_size": 2048,
      "intermediate_size": 10944, "num_hidden_layers": 27, "num_attention_heads": 16,
      "vocab_size": 102400, "num_experts_per_tok": 6, "moe_intermediate_size": 1408,
      "first_k_dense_replace": 1, "q_lora_rank": null)"},
    {"deepseek_v3", "DeepSeek-V3", 671'026'419'200, R"("num_nextn_predict_layers": 1)"},
    {"dots1", "dots.llm1", 142'774'381'696, R"("hidden_size": 4096, "n_routed_experts": 128,
      "n_shared_experts": 2, "num_experts_per_tok": 6, "first_k_dense_replace": 1,
      "head_dim": 128, "sliding_window": null)"},
    {"ernie4_5", "ERNIE-4.5-0.3B", 360'748'032, ""},
    {"ernie4_5_moe", "ERNIE-4.5-21B-A3B", 21'825'437'888, ""},
    {"exaone", "EXAONE-3.5-7.8B", 7'818'448'896, R"("hidden_size": 4096,
      "intermediate_size": 14336, "num_key_value_heads": 8, "tie_word_embeddings": false)"},
    {"exaone4", "EXAONE-4.0-1.2B", 1'279'391'488, R"("hidden_size": 2048,
      "intermediate_size": 4096, "num_hidden_layers": 30, "num_key_value_heads": 8,
      "head_dim": 64, "tie_word_embeddings": true, "sliding_window": null)"},
    {"falcon", "falcon-7b", 6'921'720'704, ""},
    {"falcon", "falcon-40b", 41'303'293'952, R"("hidden_size": 8192, "num_hidden_layers": 60,
      "num_attention_heads": 128, "num_kv_heads": 8, "new_decoder_architecture": true)"},
    {"gemma", "gemma-7b", 8'537'680'896, ""},
    {"gemma2", "gemma-2-9b", 9'241'705'984, R"("hidden_size": 3584, "intermediate_size": 14336,
      "num_attention_heads": 16, "num_hidden_layers": 42, "num_key_value_heads": 8)"},
    {"gemma3_text", "gemma-3-12b", 11'766'034'176, R"("hidden_size": 3840,
      "intermediate_size": 15360, "num_attention_heads": 16, "num_hidden_layers": 48,
      "num_key_value_heads": 8)"},
    {"glm4", "GLM-4-9B-0414", 9'400'279'040, ""},
    {"glm4_moe", "GLM-4.5-Air", 106'852'251'264, R"("head_dim": 128, "attention_bias": true,
      "n_routed_experts": 128, "first_k_dense_replace": 1, "num_nextn_predict_layers": 1)"},
    {"gpt2", "gpt2", 124'439'808, ""},
    {"gpt_bigcode", "starcoderbase", 15'517'456'384, R"("vocab_size": 49152, "n_embd": 6144,
      "n_layer": 40, "n_head": 48, "n_inner": 24576, "n_positions": 8192)"},
    {"gpt_neo", "gpt-neo-2.7B", 2'651'307'520, R"("hidden_size": 2560, "num_layers": 32,
      "num_heads": 20)"},
    {"gpt_neox", "gpt-neox-20b", 20'554'567'680, ""},
    {"gpt_oss", "gpt-oss-120b", 116'829'156'672, ""},
    {"gptj", "gpt-j-6b", 6'050'882'784, ""},
    {"granite", "granite-3.0-8b", 8'170'848'256, R"("vocab_size": 49155,
      "intermediate_size": 12800, "num_hidden_layers": 40, "num_key_value_heads": 8,
      "tie_word_embeddings": true)"},
    {"granitemoe", "granite-3.0-1b-a400m", 1'334'628'352, R"("vocab_size": 49155,
      "hidden_size": 1024, "intermediate_size": 512, "num_hidden_layers": 24,
      "num_attention_heads": 16, "num_key_value_heads": 8, "num_local_experts": 32,
      "num_experts_per_tok": 8, "tie_word_embeddings": true)"},
    {"granitemoehybrid", "granite-4.0-micro", 3'402'836'480, R"("vocab_size": 100352,
      "hidden_size": 2560, "shared_intermediate_size": 8192, "num_hidden_layers": 40,
      "num_attention_heads": 40, "num_key_value_heads": 8, "num_local_experts": 0,
      "tie_word_embeddings": true, "layer_types": [
      "attention", "attention", "attention", "attention", "attention", "attention", "attention", "attention",
      "attention", "attention", "attention", "attention", "attention", "attention", "attention", "attention",
      "attention", "attention", "attention", "attention", "attention", "attention", "attention", "attention",
      "attention", "attention", "attention", "attention", "attention", "attention", "attention", "attention",
      "attention", "attention", "attention", "attention", "attention", "attention", "attention", "attention"])"},
    {"granitemoehybrid", "granite-4.0-h-micro", 3'191'396'096, R"("vocab_size": 100352,
      "hidden_size": 2048, "shared_intermediate_size": 8192, "num_hidden_layers": 40,
      "num_attention_heads": 32, "num_key_value_heads": 8, "num_local_experts": 0,
      "mamba_n_heads": 64, "mamba_d_state": 128, "tie_word_embeddings": true, "layer_types": [
      "mamba", "mamba", "mamba", "mamba", "mamba", "attention", "mamba", "mamba", "mamba", "mamba",
      "mamba", "mamba", "mamba", "mamba", "mamba", "attention", "mamba", "mamba", "mamba", "mamba",
      "mamba", "mamba", "mamba", "mamba", "mamba", "attention", "mamba", "mamba", "mamba", "mamba",
      "mamba", "mamba", "mamba", "mamba", "mamba", "attention", "mamba", "mamba", "mamba",
      "mamba"])"},
    {"hunyuan_v1_moe", "Hunyuan-A13B", 80'393'183'232, R"("vocab_size": 128167,
      "intermediate_size": 3072, "moe_intermediate_size": [3072, 3072], "num_experts": 64,
      "moe_topk": [8, 8], "num_shared_expert": [1, 1], "num_key_value_heads": 8,
      "head_dim": 128, "tie_word_embeddings": true)"},
    {"internlm2", "internlm2-7b", 7'737'708'544, R"("vocab_size": 92544, "bias": false,
      "intermediate_size": 14336, "num_key_value_heads": 8)"},
    {"internlm3", "internlm3-8b", 8'804'241'408, R"("intermediate_size": 10240,
      "num_hidden_layers": 48, "num_key_value_heads": 2, "head_dim": 128)"},
    {"kimi_k2", "Kimi-K2", 1'026'408'232'448, R"("vocab_size": 163840,
      "num_attention_heads": 64, "n_routed_experts": 384, "first_k_dense_replace": 1)"},
    {"kimi_linear", "Kimi-Linear-48B-A3B", 49'122'675'072, R"("hidden_size": 2304,
      "intermediate_size": 9216, "num_hidden_layers": 27, "num_key_value_heads": 32,
      "head_dim": 72, "moe_intermediate_size": 1024, "num_experts": 256,
      "num_experts_per_token": 8, "num_shared_experts": 1, "first_k_dense_replace": 1,
      "q_lora_rank": null, "kv_lora_rank": 512, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64,
      "v_head_dim": 128, "linear_attn_config": {"num_heads": 32, "head_dim": 128,
      "short_conv_kernel_size": 4, "full_attn_layers": [4, 8, 12, 16, 20, 24, 27], "kda_layers":
      [1, 2, 3, 5, 6, 7, 9, 10, 11, 13, 14, 15, 17, 18, 19, 21, 22, 23, 25, 26]})"},
    {"llama", "Llama-3.1-8B", 8'030'261'248, R"("vocab_size": 128256,
      "intermediate_size": 14336, "num_key_value_heads": 8)"},
    {"llama4_text", "Llama-4-Scout-17B-16E", 107'769'861'120, ""},
    {"mimo", "MiMo-7B", 7'622'000'000, R"("vocab_size": 151680, "intermediate_size": 11008,
      "num_hidden_layers": 36, "num_key_value_heads": 8, "num_nextn_predict_layers": 1)"},
    {"minicpm3", "MiniCPM3-4B", 4'074'000'000, ""},
    {"minicpm", "MiniCPM-2B", 2'724'880'896, R"("vocab_size": 122753, "hidden_size": 2304,
      "intermediate_size": 5760, "num_hidden_layers": 40, "num_attention_heads": 36,
      "num_key_value_heads": 36)"},
    {"minimax_m2", "MiniMax-M2", 228'700'000'000, ""},
    {"mistral", "Mistral-7B", 7'241'732'096, ""},
    {"mistral3", "Mistral-Small-24B", 23'572'403'200, R"("vocab_size": 131072,
      "hidden_size": 5120, "intermediate_size": 32768, "num_hidden_layers": 40,
      "head_dim": 128)"},
    {"mixtral", "Mixtral-8x7B", 46'702'792'704, ""},
    {"mpt", "mpt-7b", 6'649'286'656, R"("vocab_size": 50432, "d_model": 4096, "n_heads": 32,
      "n_layers": 32, "attn_config": {"alibi": true})"},
    {"nemotron", "Minitron-4B-Base", 4'190'000'000, R"("hidden_size": 3072,
      "intermediate_size": 9216, "num_attention_heads": 24, "num_key_value_heads": 8,
      "head_dim": 128)"},
    {"olmo", "OLMo-7B", 6'888'095'744, ""},
    {"olmo2", "OLMo-2-1124-7B", 7'298'617'344, R"("vocab_size": 100352)"},
    {"olmo3", "Olmo-3-7B", 7'298'011'136, R"("vocab_size": 100278)"},
    {"olmoe", "OLMoE-1B-7B", 6'919'161'856, R"("intermediate_size": 1024)"},
    {"opt", "opt-6.7b", 6'658'473'984, R"("hidden_size": 4096, "ffn_dim": 16384,
      "num_hidden_layers": 32, "num_attention_heads": 32, "word_embed_proj_dim": 4096)"},
    {"phi", "phi-2", 2'779'683'840, R"("hidden_size": 2560, "intermediate_size": 10240,
      "num_hidden_layers": 32)"},
    {"phi3", "Phi-3-mini-4k", 3'821'079'552, R"("sliding_window": 2047)"},
    {"phi4mm", "Phi-4-multimodal, its text", 3'836'000'000, R"("num_attention_heads": 24,
      "tie_word_embeddings": true)"},
    {"phimoe", "Phi-3.5-MoE", 41'873'153'344, R"("attention_bias": true, "lm_head_bias": true)"},
    {"qwen", "Qwen-7B", 7'721'324'544, ""},
    {"qwen2", "Qwen2.5-7B", 7'615'616'512, R"("vocab_size": 152064, "hidden_size": 3584,
      "intermediate_size": 18944, "num_hidden_layers": 28, "num_attention_heads": 28,
      "num_key_value_heads": 4)"},
    {"qwen2_5_vl", "Qwen2.5-VL-7B", 7'615'616'512, R"("hidden_size": 3584,
      "intermediate_size": 18944, "num_hidden_layers": 28, "num_attention_heads": 28,
      "num_key_value_heads": 4)"},
    {"qwen2_moe", "Qwen1.5-MoE-A2.7B", 14'315'784'192, ""},
    {"qwen3", "Qwen3-8B", 8'190'735'360, R"("intermediate_size": 12288,
      "num_hidden_layers": 36, "num_key_value_heads": 8)"},
    {"qwen3_next", "Qwen3-Next-80B-A3B", 79'674'391'296, ""},
    {"qwen3_moe", "Qwen3-30B-A3B", 30'532'122'624, R"("num_hidden_layers": 48,
      "head_dim": 128)"},
    {"qwen3_vl_moe_text", "Qwen3-VL-30B-A3B", 30'532'122'624, R"("num_hidden_layers": 48,
      "head_dim": 128, "num_attention_heads": 32, "num_key_value_heads": 4, "num_experts": 128,
      "num_experts_per_tok": 8, "moe_intermediate_size": 768, "tie_word_embeddings": false)"},
    {"nemotron_h", "Nemotron-H-8B", 8'100'852'736, R"("hybrid_override_pattern":
      "M-M-M-M*-M-M-M-M-M*-M-M-M-M-M*-M-M-M-M-M*-M-M-M-M-M-")"},
    {"nemotron_h", "Nemotron-3-Nano-30B-A3B", 31'577'940'288, R"("hybrid_override_pattern":
      "MEMEM*EMEMEM*EMEMEM*EMEMEM*EMEMEM*EMEMEMEM*EMEMEMEME", "hidden_size": 2688,
      "num_key_value_heads": 2, "mamba_num_heads": 64, "n_routed_experts": 128,
      "num_experts_per_tok": 6, "moe_intermediate_size": 1856,
      "moe_shared_expert_intermediate_size": 3712)"},
    {"seed_oss", "Seed-OSS-36B", 36'151'104'512, R"("hidden_size": 5120)"},
    {"smollm3", "SmolLM3-3B", 3'075'098'624, ""},
    {"stablelm", "stablelm-3b-4e1t", 2'795'443'200, ""},
    {"starcoder2", "starcoder2-7b", 7'173'923'840, R"("hidden_size": 4608,
      "intermediate_size": 18432, "num_hidden_layers": 32, "num_attention_heads": 36,
      "num_key_value_heads": 4)"},
    {"vaultgemma", "vaultgemma-1b", 1'038'741'120, R"("hidden_size": 1152,
      "intermediate_size": 6912, "num_attention_heads": 4, "num_key_value_heads": 4)"},
};

std::string config_of(std::string_view type, std::string_view keys) {
  return "{\"model_type\": \"" + std::string(type) + "\"" + (keys.empty() ? "" : ", ") +
         std::string(keys) + "}";
}

Model model_of(const std::string& json) {
  const TemporaryFolder folder;
  return load_model(folder.file("config.json", json), Library{});
}

}  // namespace

TEST_CASE("decoders have the published number of parameters within 0.1 %") {
  for (const Published& row : kPublished) {
    CAPTURE(row.type);
    CAPTURE(row.model);
    const Model model = model_of(config_of(row.type, row.keys));
    const double parameters = parameter_count(model);
    CHECK(parameters == doctest::Approx(row.parameters).epsilon(0.001));
  }
}
