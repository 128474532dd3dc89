// Hugging Face configs: the dimensions that their authors publish, hence the published counts.
#include "sim/scenario/huggingface/huggingface.hpp"

#include <algorithm>
#include <fstream>

#include <doctest/doctest.h>

#include "sim/core/error.hpp"
#include "sim/ops/blocks.hpp"
#include "sim/scenario/load.hpp"
#include "tests/source_folder.hpp"
#include "tests/temporary_folder.hpp"

using namespace stepsim;

namespace {

/// A folder as the hub lays them out: <model>/config.json.
class Config {
 public:
  explicit Config(const std::string& json, const std::string& model = "some-model")
      : path_(folder_.file(model + "/config.json", json)) {}

  const std::string& path() const { return path_; }
  Model model() const { return load_model(path_, Library{}); }

 private:
  TemporaryFolder folder_;
  std::string path_;
};

Model model_of(const std::string& json) { return Config(json).model(); }
/// Those that say what is not simulated; what was assumed is tested apart.
std::vector<std::string> notes_of(const Model& model) {
  std::vector<std::string> notes = model.notes;
  std::erase_if(notes, [](const std::string& note) { return note.starts_with("assumed"); });
  return notes;
}
std::int64_t parameters_of(const std::string& json) {
  return static_cast<std::int64_t>(parameter_count(model_of(json)));
}
Transformer transformer_of(const std::string& json) {
  return std::get<Transformer>(model_of(json).shape);
}

const std::string kLlama3 = R"({
  "architectures": ["LlamaForCausalLM"],
  "model_type": "llama",
  "attention_bias": false,
  "attention_dropout": 0.0,
  "hidden_act": "silu",
  "hidden_size": 4096,
  "intermediate_size": 14336,
  "max_position_embeddings": 131072,
  "mlp_bias": false,
  "num_attention_heads": 32,
  "num_hidden_layers": 32,
  "num_key_value_heads": 8,
  "rms_norm_eps": 1e-05,
  "rope_scaling": {"factor": 8.0, "rope_type": "llama3"},
  "rope_theta": 500000.0,
  "tie_word_embeddings": false,
  "torch_dtype": "bfloat16",
  "vocab_size": 128256
})";

}  // namespace

TEST_CASE("llama configs have the published parameters") {
  CHECK(parameters_of(kLlama3) == 8'030'261'248);
  // Llama 2 7B has the dimensions that are the class's defaults.
  CHECK(parameters_of(R"({"model_type": "llama"})") == 6'738'415'616);
  CHECK(parameters_of(R"({"model_type": "llama", "hidden_size": 8192, "intermediate_size": 28672,
      "num_hidden_layers": 80, "num_attention_heads": 64, "num_key_value_heads": 8})") ==
        68'976'648'192);
  CHECK(parameters_of(R"({"model_type": "llama", "hidden_size": 16384, "intermediate_size": 53248,
      "num_hidden_layers": 126, "num_attention_heads": 128, "num_key_value_heads": 8,
      "vocab_size": 128256})") == 405'853'388'800);
}

TEST_CASE("mistral and gpt2 configs have the published parameters") {
  CHECK(parameters_of(R"({"model_type": "mistral", "sliding_window": null})") == 7'241'732'096);
  CHECK(parameters_of(R"({"model_type": "gpt2"})") == 124'439'808);
  CHECK(parameters_of(R"({"model_type": "gpt2", "n_embd": 1600, "n_head": 25, "n_layer": 48,
      "n_ctx": 1024, "n_positions": 1024, "n_inner": null})") == 1'557'611'200);
}

TEST_CASE("qwen, mixtral and deepseek configs are the models of models/, to the last key") {
  const auto check = [](const std::string& name, const std::string& json) {
    CAPTURE(name);
    const Model zoo = load_model(name, Library{{source_folder()}});
    const Model config = model_of(json);
    CHECK(std::get<Transformer>(config.shape) == std::get<Transformer>(zoo.shape));
    return static_cast<std::int64_t>(parameter_count(config));
  };
  CHECK(check("qwen2.5-7b", R"({"model_type": "qwen2", "hidden_size": 3584,
      "intermediate_size": 18944, "num_hidden_layers": 28, "num_attention_heads": 28,
      "num_key_value_heads": 4, "vocab_size": 152064})") == 7'615'616'512);
  CHECK(check("qwen3-8b", R"({"model_type": "qwen3", "hidden_size": 4096, "head_dim": 128,
      "intermediate_size": 12288, "num_hidden_layers": 36, "num_attention_heads": 32,
      "num_key_value_heads": 8, "vocab_size": 151936})") == 8'190'735'360);
  CHECK(check("qwen3-0.6b", R"({"model_type": "qwen3", "hidden_size": 1024, "head_dim": 128,
      "intermediate_size": 3072, "num_hidden_layers": 28, "num_attention_heads": 16,
      "num_key_value_heads": 8, "tie_word_embeddings": true})") == 596'049'920);
  CHECK(check("mixtral-8x7b", R"({"model_type": "mixtral"})") == 46'702'792'704);
  CHECK(check("qwen3-30b-a3b", R"({"model_type": "qwen3_moe", "num_hidden_layers": 48,
      "head_dim": 128, "mlp_only_layers": [], "decoder_sparse_step": 1, "intermediate_size": 6144,
      "num_local_experts": 128})") == 30'532'122'624);
  CHECK(check("qwen3-235b-a22b", R"({"model_type": "qwen3_moe", "hidden_size": 4096,
      "num_hidden_layers": 94, "num_attention_heads": 64, "head_dim": 128,
      "moe_intermediate_size": 1536, "intermediate_size": 12288})") == 235'093'634'560);
  CHECK(check("deepseek-v3", R"({"model_type": "deepseek_v3", "n_group": 8,
      "topk_group": 4, "moe_layer_freq": 1})") == 671'026'404'352);
  CHECK(check("deepseek-v2", R"({"model_type": "deepseek_v2", "hidden_size": 5120,
      "intermediate_size": 12288, "num_hidden_layers": 60, "num_attention_heads": 128,
      "vocab_size": 102400, "n_routed_experts": 160, "num_experts_per_tok": 6,
      "moe_intermediate_size": 1536, "n_shared_experts": 2, "first_k_dense_replace": 1,
      "n_group": 8, "topk_group": 3})") == 235'741'434'880);
  CHECK(check("deepseek-v2-lite", R"({"model_type": "deepseek_v2", "hidden_size": 2048,
      "intermediate_size": 10944, "num_hidden_layers": 27, "num_attention_heads": 16,
      "vocab_size": 102400, "n_routed_experts": 64, "num_experts_per_tok": 6,
      "moe_intermediate_size": 1408, "n_shared_experts": 2, "first_k_dense_replace": 1,
      "q_lora_rank": null})") == 15'706'484'224);
}

TEST_CASE("YaRN's factor and the limit of GPT-OSS's experts are read") {
  const auto gpt_oss = [](const std::string& more) {
    return transformer_of(R"({"model_type": "gpt_oss")" + more + "}");
  };
  CHECK(gpt_oss("") ==
        std::get<Transformer>(load_model("gpt-oss-120b", Library{{source_folder()}}).shape));
  CHECK(gpt_oss(R"(, "rope_scaling": {"rope_type": "yarn", "factor": 32.5})").yarn_factor == 32.5);
  CHECK(gpt_oss(R"(, "rope_parameters": {"rope_type": "yarn", "factor": 8})").yarn_factor == 8);
  CHECK(gpt_oss(R"(, "rope_scaling": {"rope_type": "linear", "factor": 4})").yarn_factor == 1);
  CHECK(gpt_oss(R"(, "rope_parameters": {"rope_type": "default"})").yarn_factor == 1);
  CHECK(gpt_oss(R"(, "rope_scaling": null)").yarn_factor == 1);
  CHECK(gpt_oss(R"(, "swiglu_limit": 7.5)").experts->clamp == 7.5);
  CHECK(gpt_oss(R"(, "swiglu_limit": null)").experts->clamp == 0);
  // Of other models, but not of latent attention.
  CHECK(
      transformer_of(R"({"model_type": "llama", "rope_scaling": {"type": "yarn", "factor": 4.0}})")
          .yarn_factor == 4);
  CHECK(transformer_of(R"({"model_type": "deepseek_v3", "rope_scaling": {"type": "yarn",
      "factor": 40}})")
            .yarn_factor == 1);
}

TEST_CASE("bert, t5 and vit configs are the models of models/") {
  const auto shape_of = [](const char* name) {
    return std::get<Transformer>(load_model(name, Library{{source_folder()}}).shape);
  };
  const std::string bert = R"({"model_type": "bert", "architectures": ["BertForPreTraining"],
      "hidden_size": 1024, "intermediate_size": 4096, "num_attention_heads": 16,
      "num_hidden_layers": 24, "type_vocab_size": 2, "position_embedding_type": "absolute",
      "gradient_checkpointing": false, "layer_norm_eps": 1e-12})";
  // The library computes the logits of all tokens.
  Transformer large = shape_of("bert-large");
  large.masked->predicted = 1;
  CHECK(transformer_of(bert) == large);
  CHECK(notes_of(model_of(bert)).empty());
  CHECK(parameters_of(bert) == 336'226'108);
  CHECK(parameters_of(R"({"model_type": "bert", "architectures": ["BertForMaskedLM"]})") ==
        109'514'298);

  const std::string labels = R"({"model_type": "vit", "num_labels": 1000})";
  CHECK(transformer_of(labels) == shape_of("vit-b-16"));
  CHECK(parameters_of(labels) == 86'567'656);
  CHECK(transformer_of(R"({"model_type": "vit", "id2label": {"0": "cat", "1": "dog", "2": "owl"}})")
            .vision->classes == 3);

  CHECK(transformer_of(R"({"model_type": "t5"})") == shape_of("t5-small"));
  const std::string gated = R"({"model_type": "t5", "d_model": 768, "d_ff": 2048, "num_heads": 12,
      "num_layers": 12, "num_decoder_layers": 12, "feed_forward_proj": "gated-gelu",
      "tie_word_embeddings": false, "is_encoder_decoder": true})";
  CHECK(transformer_of(gated) == shape_of("t5-v1.1-base"));
  CHECK(parameters_of(gated) == 247'577'856);
}

TEST_CASE("biases and norms that are in the code and not in the config are there") {
  CHECK(transformer_of(R"({"model_type": "qwen2"})").qkv_bias);
  CHECK_FALSE(transformer_of(R"({"model_type": "qwen2"})").bias);
  CHECK(transformer_of(R"({"model_type": "qwen3"})").qk_norm);
  CHECK_FALSE(transformer_of(R"({"model_type": "qwen3"})").qkv_bias);
  CHECK(transformer_of(R"({"model_type": "qwen3", "attention_bias": true})").qkv_bias);
  CHECK(transformer_of(R"({"model_type": "qwen3_moe"})").qk_norm);
}

TEST_CASE("dense layers before those with experts are counted, elsewhere they are refused") {
  const auto experts = [](const std::string& rest) {
    return *transformer_of("{\"model_type\": \"qwen3_moe\", " + rest + "}").experts;
  };
  CHECK(experts(R"("mlp_only_layers": [1, 0])").dense_layers == 2);
  CHECK(experts(R"("mlp_only_layers": null)").dense_layers == 0);
  CHECK_THROWS_AS(experts(R"("mlp_only_layers": [3])"), UserError);
  CHECK_THROWS_AS(experts(R"("decoder_sparse_step": 2)"), UserError);
  const auto latent = [](const std::string& rest) {
    return transformer_of("{\"model_type\": \"deepseek_v3\", " + rest + "}");
  };
  CHECK(latent(R"("n_shared_experts": 2)").experts->shared_ffn == 2 * 2048);
  CHECK(latent(R"("n_shared_experts": null)").experts->shared_ffn == 0);
  CHECK(latent(R"("q_lora_rank": null)").mla->query_rank == 0);
  CHECK_THROWS_AS(latent(R"("moe_layer_freq": 2)"), UserError);
}

TEST_CASE("a config in full leaves nothing to be noted, and the model has its folder's name") {
  const Config config(kLlama3, "Llama-3.1-8B");
  const Model model = config.model();
  CHECK(model.name == "Llama-3.1-8B");
  CHECK(model.source == "Hugging Face config, model_type llama");
  CHECK(model.notes.empty());
  CHECK(huggingface_name("models/tiny.json") == "tiny");
}

TEST_CASE("kv heads that are null are as many as heads") {
  CHECK(transformer_of(R"({"model_type": "mistral", "num_key_value_heads": null})").kv_heads == 32);
  CHECK(transformer_of(R"({"model_type": "mistral"})").kv_heads == 8);
  CHECK(transformer_of(R"({"model_type": "llama"})").kv_heads == 32);
}

TEST_CASE("dropout is gpt2's, and none where both rates are 0") {
  CHECK(transformer_of(R"({"model_type": "gpt2"})").dropout);
  CHECK_FALSE(
      transformer_of(R"({"model_type": "gpt2", "resid_pdrop": 0.0, "attn_pdrop": 0})").dropout);
  CHECK_FALSE(transformer_of(R"({"model_type": "llama"})").dropout);
}

TEST_CASE("windows of attention are read with the layers that have them") {
  const auto window = [](const std::string& text) { return transformer_of(text).window; };
  CHECK(window(R"({"model_type": "mistral", "sliding_window": 4096})") ==
        AttentionWindow{.tokens = 4096});
  CHECK(!window(R"({"model_type": "mistral", "sliding_window": null})"));
  CHECK(window(R"({"model_type": "gemma2"})") == AttentionWindow{.tokens = 4096, .full_every = 2});
  CHECK(window(R"({"model_type": "gemma3_text", "sliding_window": 1024,
                   "sliding_window_pattern": 6})") ==
        AttentionWindow{.tokens = 1024, .full_every = 6});
  CHECK(window(R"({"model_type": "olmo3", "num_hidden_layers": 4, "layer_types":
                   ["sliding_attention", "sliding_attention", "sliding_attention",
                    "full_attention"]})") == AttentionWindow{.tokens = 4096, .full_every = 4});
  CHECK(!window(R"({"model_type": "olmo3", "num_hidden_layers": 2, "layer_types":
                    ["full_attention", "full_attention"]})"));
}

TEST_CASE("what costs something and cannot be said is noted, each by its key") {
  const auto notes = [](const std::string& rest, const std::string& type = "llama") {
    return notes_of(model_of("{\"model_type\": \"" + type + "\", " + rest + "}"));
  };
  using Notes = std::vector<std::string>;
  CHECK(notes(R"("sliding_window": 4096)", "mistral").empty());
  CHECK(notes(R"("attention_bias": true)") ==
        Notes{"attention_bias: that of the projection after attention is left out"});
  CHECK(notes(R"("mlp_bias": true)") == Notes{"mlp_bias: left out"});
  CHECK(notes(R"("mlp_bias": true, "attention_bias": true)").empty());
  CHECK(notes(R"("attention_dropout": 0.1)") ==
        Notes{"attention_dropout: dropout of attention alone is left out"});
  CHECK(notes(R"("quantization_config": {"quant_method": "fp8"})") ==
        Notes{"quantization_config: training.precision decides the type of the GEMMs"});
  CHECK(notes(R"("attn_pdrop": 0)", "gpt2") ==
        Notes{"resid_pdrop and attn_pdrop: dropout is in both places or in none"});
  CHECK(notes(R"("a_new_key": 1, "another": [])") == Notes{"not read: a_new_key, another"});
  // Qwen's window counts only where it is switched on.
  CHECK(notes(R"("sliding_window": 32768, "use_sliding_window": false)", "qwen2").empty());
  CHECK(notes(R"("sliding_window": 32768, "use_sliding_window": true)", "qwen2") ==
        Notes{"sliding_window 32768: attention is counted over the whole sequence"});
  CHECK(notes(R"("num_nextn_predict_layers": 1)", "deepseek_v3") ==
        Notes{"num_nextn_predict_layers: the layers that predict further tokens are left out"});
  CHECK(notes(R"("num_nextn_predict_layers": 0, "n_group": 1)", "deepseek_v3").empty());
  CHECK(notes(R"("n_group": 8, "topk_group": 4)", "deepseek_v3").empty());
  CHECK(notes(R"("architectures": ["BertForTokenClassification"])", "bert") ==
        Notes{"architectures BertForTokenClassification: the heads of pre-training are simulated"});
  CHECK(notes(R"("attention_probs_dropout_prob": 0.0)", "bert") ==
        Notes{"hidden_dropout_prob and attention_probs_dropout_prob: dropout is in both places or "
              "in none"});
  CHECK(notes(R"("qkv_bias": false)", "vit") ==
        Notes{"qkv_bias: queries, keys and values have biases"});
  CHECK(notes(R"("attention_bias": true)", "deepseek_v3") ==
        Notes{"attention_bias: latent attention has none"});
}

TEST_CASE("the language model of a multimodal config is read") {
  const Model model = model_of(
      R"({"model_type": "llava", "text_config": {"model_type": "mistral", "sliding_window": null}})");
  CHECK(parameter_count(model) == 7'241'732'096);
  CHECK(notes_of(model) == std::vector<std::string>{"text_config alone is simulated"});
}

TEST_CASE("a config is a base like any other, and is written out in full") {
  const Config config(kLlama3);
  const std::string text = "model: {base: " + config.path() +
                           ", layers: 4}\ncluster: {gpu: h100}\n"
                           "training: {sequence_length: 4096, global_batch: 8}\n";
  const Library library{{source_folder()}};
  const Scenario scenario = parse_scenario(text, "case.yaml", library);
  CHECK(std::get<Transformer>(scenario.model.shape).layers == 4);
  CHECK(std::get<Transformer>(scenario.model.shape).ffn == 14336);
  Scenario again = parse_scenario(to_yaml(scenario), "case.yaml", library);
  CHECK(again == scenario);
}

TEST_CASE("every model type that is offered can be read with nothing but its name") {
  std::string types;
  for (const std::string& type : huggingface_model_types()) {
    CAPTURE(type);
    types += (types.empty() ? "" : ", ") + type;
    // Some classes have no default of a key without which they cannot be built.
    const std::string rest = type == "deepseek_v2"      ? R"(, "num_experts_per_tok": 6)"
                             : type.starts_with("glm4") ? R"(, "head_dim": 128)"
                             : type.starts_with("bailing_moe")
                                 ? R"(, "moe_intermediate_size": 1408)"
                                 : "";
    // Bloom's class describes a toy of two narrow layers.
    CHECK(parameters_of("{\"model_type\": \"" + type + "\"" + rest + "}") >
          (type == "bloom" ? 10'000'000 : 50'000'000));
  }
  std::ifstream docs(std::string(source_folder()) + "/docs/models.md");
  std::string text{std::istreambuf_iterator<char>(docs), {}};
  std::replace(text.begin(), text.end(), '\n', ' ');
  CHECK(text.find("Its `model_type` is one of " + types + ".") != std::string::npos);
}
