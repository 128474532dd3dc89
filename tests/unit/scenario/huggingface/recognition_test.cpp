// Which layout a config has, what was assumed, and what is refused: as people have them in hand.
#include <algorithm>
#include <string>
#include <string_view>

#include <doctest/doctest.h>

#include "sim/ops/blocks.hpp"
#include "tests/unit/scenario/huggingface/configs.hpp"

using namespace stepsim;

namespace {

Transformer transformer_of(const std::string& json) {
  return std::get<Transformer>(model_of(json).shape);
}

}  // namespace

TEST_CASE("architectures say the layout where model_type does not") {
  const Model qwen = model_of(R"({"architectures": ["Qwen3MoeForCausalLM"]})");
  CHECK(std::get<Transformer>(qwen.shape).experts->count == 128);
  CHECK(has_note(qwen, "read as model_type qwen3_moe, as architectures Qwen3MoeForCausalLM says"));
  CHECK_FALSE(transformer_of(R"({"architectures": ["GPTNeoXForCausalLM"]})").rms_norm);
  CHECK(transformer_of(R"({"architectures": ["GPT2LMHeadModel"]})").positions == 1024);
  CHECK(transformer_of(R"({"architectures": ["Ernie4_5_MoeForCausalLM"]})").experts->top_k == 6);
  // A model type of somebody's own.
  CHECK(transformer_of(R"({"model_type": "mine", "architectures": ["Gemma2ForCausalLM"]})")
            .head_dim == 256);
  CHECK(has(refusal_of(R"({"architectures": ["Mamba2ForCausalLM"]})"), "cannot be simulated"));
}

TEST_CASE("the text of a model with towers is read, with the head of the model around it") {
  const Model gemma = model_of(R"({"architectures": ["Gemma3ForConditionalGeneration"],
      "model_type": "gemma3", "mm_tokens_per_image": 256, "text_config": {"hidden_size": 3840,
      "intermediate_size": 15360, "model_type": "gemma3_text", "num_attention_heads": 16,
      "num_hidden_layers": 48, "num_key_value_heads": 8, "sliding_window": 1024},
      "vision_config": {}})");
  CHECK(parameter_count(gemma) == doctest::Approx(11.766e9).epsilon(0.001));
  CHECK(has_note(gemma,
                 "assumed, as gemma3_text has them by default: vocab_size 262208, "
                 "tie_word_embeddings true, head_dim 256"));
  CHECK(std::get<Transformer>(gemma.shape).window == AttentionWindow{1024, WindowKind::sliding, 6});
  const std::string towers = R"("vision_config": {"depth": 27}, "text_config": {"num_experts": 8)";
  CHECK(transformer_of(R"({"model_type": "qwen3_vl_moe", "tie_word_embeddings": false, )" + towers +
                       "}}")
            .tied_embeddings == false);
  CHECK(transformer_of(R"({"model_type": "qwen3_vl_moe", )" + towers + "}}").tied_embeddings);
  // A text of a type of its own, whose tokens are counted around it.
  const Model exaone = model_of(R"({"model_type": "exaone4_5", "vocab_size": 153600, "text_config":
      {"architectures": ["Exaone4ForCausalLM"], "model_type": "exaone4_5_text"}})");
  CHECK(std::get<Transformer>(exaone.shape).vocabulary == 153600);
  // Sound, images and text: the text lies two maps deep.
  CHECK(transformer_of(R"({"model_type": "qwen2_5_omni", "thinker_config": {"text_config":
      {"model_type": "qwen2", "num_hidden_layers": 28}}})")
            .layers == 28);
}

TEST_CASE("inputs from the field have the published parameters") {
  const auto billions = [](const std::string& json) {
    return parameter_count(model_of(json)) / 1e9;
  };
  CHECK(billions(R"({"architectures":["Phi3ForCausalLM"],"model_type":"phi3","hidden_size":3072,
      "intermediate_size":8192,"num_attention_heads":32,"num_hidden_layers":32,
      "num_key_value_heads":32,"vocab_size":32064,"sliding_window":2047,
      "max_position_embeddings":4096,"tie_word_embeddings":false})") ==
        doctest::Approx(3.82).epsilon(0.001));
  CHECK(billions(R"({"architectures":["Olmo2ForCausalLM"],"model_type":"olmo2","hidden_size":4096,
      "intermediate_size":11008,"num_attention_heads":32,"num_hidden_layers":32,
      "num_key_value_heads":32,"vocab_size":100352,"tie_word_embeddings":false})") ==
        doctest::Approx(7.30).epsilon(0.001));
  CHECK(billions(R"({"architectures":["Gemma2ForCausalLM"],"attention_bias":false,
      "attn_logit_softcapping":50.0,"final_logit_softcapping":30.0,"head_dim":256,
      "hidden_act":"gelu_pytorch_tanh","hidden_activation":"gelu_pytorch_tanh","hidden_size":3584,
      "intermediate_size":14336,"max_position_embeddings":8192,"model_type":"gemma2",
      "num_attention_heads":16,"num_hidden_layers":42,"num_key_value_heads":8,
      "query_pre_attn_scalar":256,"sliding_window":4096,"vocab_size":256000})") ==
        doctest::Approx(9.24).epsilon(0.001));
  CHECK(billions(R"({"architectures":["Qwen2_5_VLForConditionalGeneration"],
      "model_type":"qwen2_5_vl","hidden_size":3584,"intermediate_size":18944,
      "num_attention_heads":28,"num_hidden_layers":28,"num_key_value_heads":4,"vocab_size":152064,
      "tie_word_embeddings":false})") == doctest::Approx(7.62).epsilon(0.001));
}

TEST_CASE("what the core cannot hold is refused with the reason, at its place") {
  const auto reason = [](const std::string& type) {
    return refusal_of("{\"model_type\": \"" + type + "\"}");
  };
  CHECK(has(reason("mamba2"),
            "config.json:1:16: model: model_type 'mamba2' cannot be simulated: "
            "its layers have a state instead of attention"));
  CHECK(has(reason("jamba"), "a state of Mamba's first kind"));
  CHECK(has(refusal_of(R"({"model_type": "minimax_m1", "num_hidden_layers": 48, "hidden_size": 2048,
      "num_attention_heads": 16, "num_key_value_heads": 2, "head_dim": 256, "vocab_size": 151936,
      "intermediate_size": 5120, "num_experts": 512, "num_experts_per_tok": 10,
      "moe_intermediate_size": 512})"),
            "model: {layers: 48, hidden: 2048, heads: 16, kv_heads: 2, head_dim: 256, ffn: 5120, "
            "vocabulary: 151936, experts: {count: 512, top_k: 10, ffn: 512}, positions: 0,"));
  CHECK(has(reason("minimax"), "some of its layers have linear attention"));
  CHECK(has(reason("bart"), "an encoder and a decoder"));
  CHECK(has(reason("gemma3n"), "embedding of its own"));
  CHECK(has(reason("openelm"), "its layers are not alike"));
  CHECK(has(reason("lama"), "did you mean 'llama'?"));
  CHECK(has(reason("something_new"), "docs/models.md lists the types"));
  CHECK(has(refusal_of(R"({"model_type": "mistral",
      "layer_types": ["full_attention", "linear_attention"]})"),
            "'layer_types' has 'linear_attention'"));
  CHECK(has(refusal_of(R"({"model_type": "llama4_text", "interleave_moe_layer_step": 2})"),
            "'interleave_moe_layer_step' must be 1: dense layers come before those with experts"));
  CHECK(has(refusal_of(R"({"model_type": "llama4_text", "num_hidden_layers": 4,
      "moe_layers": [1, 3]})"),
            "must name the last layers"));
  CHECK(transformer_of(R"({"model_type": "llama4_text", "num_hidden_layers": 4,
      "moe_layers": [1, 2, 3]})")
            .experts->dense_layers == 1);
}

TEST_CASE("values of another kind than the class has are refused at their place") {
  const auto at = [](const std::string& type, const std::string& keys) {
    return refusal_of("{\"model_type\": \"" + type + "\", " + keys + "}");
  };
  CHECK(has(at("gpt_oss", R"("layer_types": "full_attention")"),
            "config.json:1:42: model: 'layer_types' must be a list of words, one for each layer, "
            "not a value\n"));
  CHECK(has(at("gpt_oss", R"("layer_types": [["full_attention"]])"), "but has a list"));
  CHECK(has(at("gpt_oss", R"("layer_types": ["full_attention"])"),
            "'layer_types' is of 1 layers, but num_hidden_layers is 36"));
  CHECK(has(at("gpt_oss", R"("sliding_window": 0)"),
            "'sliding_window' must be an integer between 1 and 1000000000, not '0', the class's "
            "default is 128"));
  CHECK(has(at("gemma2", R"("final_logit_softcapping": -30.0)"),
            "'final_logit_softcapping' must be above 0, not '-30.0', null, or no such key"));
  CHECK(has(at("gemma2", R"("attn_logit_softcapping": 0)"), "must be above 0, not '0'"));
  CHECK(has(at("gemma3_text", R"("sliding_window_pattern": 0)"), "between 1 and 1000000000"));
  CHECK(has(at("qwen3_next", R"("mlp_only_layers": 5)"), "must be a list of numbers of layers"));
  CHECK(has(at("qwen3_next", R"("mlp_only_layers": [48])"),
            "names layer '48', but layers are 0 to 47"));
  CHECK(has(at("qwen3_5_moe", R"("num_experts": 0)"), "between 1 and 1000000000"));
  CHECK(has(at("bamba", R"("attn_layer_indices": 3)"), "must be a list of numbers of layers"));
  CHECK(has(at("bamba", R"("num_hidden_layers": 999999999)"),
            "'num_hidden_layers' must be at most 100000"));
  CHECK(has(at("bamba", R"("mamba_n_heads": 7)"),
            "'mamba_n_heads' does not fit: 7 heads do not divide the mixers' width 8192"));
  CHECK(has(at("glm4_moe_lite", R"("mlp_layer_types": ["dense", "thick"])"),
            "has 'thick': layers are dense or sparse"));
  CHECK(has(at("llama4_text", R"("moe_layers": 7)"), "must be a list of numbers of layers"));
  CHECK(has(at("llama", R"("num_hidden_layers": null)"),
            "num_hidden_layers is missing, and its class has no default"));
  CHECK(has(at("deepseek_v3", R"("n_group": 0, "topk_group": 4)"), "config.json:1:42:"));
  CHECK(has(at("mpt", R"("attn_config": 5)"), "'attn_config' must be a map, not a value"));
  CHECK(has(at("vit", R"("id2label": [1])"), "'id2label' must be a map of numbers and names"));
}

TEST_CASE("a pattern of windows is a number, or letters of which the last stands for all") {
  const auto every = [](const std::string& type, const std::string& pattern) {
    return transformer_of("{\"model_type\": \"" + type +
                          "\", \"sliding_window_pattern\": " + pattern + "}")
        .window->full_every;
  };
  CHECK(every("gemma3_text", "3") == 3);
  CHECK(every("gemma3_text", "null") == 6);
  CHECK(every("exaone4", "\"LLLLG\"") == 5);
}

TEST_CASE("layers without mixers and without experts are layers all the same") {
  // modeling_qwen3_next.py: without experts each layer has an MLP of intermediate_size.
  const Transformer dense = transformer_of(R"({"model_type": "qwen3_next", "num_experts": 0,
      "num_hidden_layers": 4, "intermediate_size": 5120})");
  CHECK(dense.hybrid->pattern == "G-G-G-*-");
  CHECK(dense.ffn == 5120);
  CHECK_FALSE(dense.experts);
  const Transformer plain =
      transformer_of(R"({"model_type": "nemotron_h", "hybrid_override_pattern": "*-*-"})");
  CHECK(plain.hybrid->pattern == "*-*-");
  CHECK(plain.layers == 4);
  CHECK(plain.hybrid->heads == 0);
}

TEST_CASE("lists say which layers are dense") {
  const auto experts = [](const std::string& types) {
    return *transformer_of(R"({"model_type": "glm4_moe_lite", "num_hidden_layers": 4,
        "mlp_layer_types": [)" +
                           types + "]}")
                .experts;
  };
  CHECK(experts(R"("dense", "dense", "sparse", "sparse")").dense_layers == 2);
  CHECK_THROWS_AS(experts(R"("dense", "sparse", "dense", "sparse")"), UserError);
}

TEST_CASE("one head of keys and values where a config asks for it") {
  const auto kv_heads = [](const std::string& keys) {
    return transformer_of("{" + keys + "}").kv_heads;
  };
  CHECK(kv_heads(R"("model_type": "falcon")") == 1);
  CHECK(kv_heads(R"("model_type": "falcon", "multi_query": false)") == 71);
  CHECK(kv_heads(R"("model_type": "falcon", "new_decoder_architecture": true, "n_head_kv": 71)") ==
        71);
  CHECK(kv_heads(R"("model_type": "gpt_bigcode")") == 1);
  CHECK(kv_heads(R"("model_type": "gpt_bigcode", "multi_query": false)") == 12);
  CHECK(kv_heads(R"("model_type": "mpt", "attn_config": {"attn_type": "multiquery_attention"})") ==
        1);
  CHECK(kv_heads(R"("model_type": "mpt", "attn_config": {"kv_n_heads": 4})") == 4);
  CHECK(kv_heads(R"("model_type": "chatglm", "multi_query_attention": true,
      "multi_query_group_num": 2)") == 2);
}

TEST_CASE("mistakes of a config are found together, each in its own words") {
  const std::string message = refusal_of(R"({"model_type": "llama",
 "hidden_size": -4096, "num_hidden_layers": "many", "num_attention_heads": 0,
 "vocab_size": 1e30, "intermediate_size": [1, 2], "num_key_value_heads": {"a": 1},
 "tie_word_embeddings": 3, "n_layer": 12})");
  CAPTURE(message);
  CHECK(has(message,
            "config.json:2:17: model: 'hidden_size' must be an integer between 1 and "
            "1000000000, not '-4096'"));
  CHECK(has(message, "the class's default is 4096"));
  CHECK(has(message, "'num_hidden_layers' must be an integer"));
  CHECK(has(message, "'num_attention_heads' must be an integer"));
  CHECK(has(message, "'vocab_size' must be an integer"));
  CHECK(has(message, "'intermediate_size' must be one value, not a list"));
  CHECK(has(message, "'num_key_value_heads' must be one value, not a map"));
  CHECK(has(message, "'tie_word_embeddings' must be true or false"));
  CHECK(has(message, "'n_layer' contradicts num_hidden_layers 'many'"));
}

TEST_CASE("a config of another shape is refused, whatever it is") {
  for (const char* json :
       {"[]",
        "{}",
        "3",
        "null",
        R"({"model_type": null})",
        R"({"model_type": ["llama"]})",
        R"({"model_type": ""})",
        R"({"architectures": {}})",
        R"({"architectures": [[]]})",
        R"({"model_type": "gemma3", "text_config": []})",
        R"({"model_type": "gemma3", "text_config": {"hidden_size": {}}})",
        R"({"model_type": "llama", "num_attention_heads": 33})",
        R"({"model_type": "llama", "num_key_value_heads": 5})",
        R"({"model_type": "llama", "vocab_size": null})",
        R"({"model_type": "deepseek_v2"})",
        R"({"model_type": "mixtral", "num_experts_per_tok": 9})",
        R"({"model_type": "qwen2_moe", "shared_expert_intermediate_size": 999999999})",
        R"({"model_type": "mpt", "expansion_ratio": 999999999, "d_model": 999999999})",
        R"({"model_type": "opt", "word_embed_proj_dim": 512})",
        R"({"model_type": "gpt2", "resid_pdrop": "often"})",
        R"({"dim": 4096, "n_layers": 32})"}) {
    CAPTURE(json);
    CHECK_FALSE(refusal_of(json).empty());
  }
}

TEST_CASE("a folder is its config.json") {
  const TemporaryFolder folder;
  folder.file("my-model/config.json", R"({"model_type": "smollm3"})");
  const Model model = load_model(folder.file("my-model"), Library{});
  CHECK(model.name == "my-model");
  CHECK(parameter_count(model) == doctest::Approx(3.075e9).epsilon(0.001));
}

TEST_CASE("a key that misspells one of the class is refused, not replaced by its default") {
  CHECK(has(refusal_of(R"({"model_type": "llama", "num_hiden_layers": 80})"),
            "model: 'num_hiden_layers' is not known here, did you mean "
            "'num_hidden_layers'?"));
  // Beside the key that it is like, it is another's.
  CHECK(refusal_of(R"({"model_type": "llama", "num_hidden_layers": 8, "num_hidden_layer": 1})")
            .empty());
}

TEST_CASE("a draft model of speculative decoding is no model of its type") {
  CHECK(has(refusal_of(R"({"architectures": ["LlamaForCausalLMEagle3"], "model_type": "llama"})"),
            "'LlamaForCausalLMEagle3' is a draft model of speculative decoding, take the "
            "config.json of the model that it drafts for"));
}

TEST_CASE("the type of another model is not taken for a misspelt one") {
  CHECK(has(refusal_of(R"({"architectures": ["DeepseekV9ForCausalLM"],
      "model_type": "deepseek_v9"})"),
            "docs/models.md lists the types"));
  CHECK(has(refusal_of(R"({"model_type": "deepseek_v9"})"), "did you mean 'deepseek_v2'?"));
}

TEST_CASE("hybrids are read with the kind of each of their layers") {
  const std::string keys = R"({"model_type": "granitemoehybrid", "num_local_experts": 0,
      "num_hidden_layers": 2, "shared_intermediate_size": 512)";
  const Transformer dense =
      transformer_of(keys + R"(, "layer_types": ["attention", "attention"]})");
  CHECK_FALSE(dense.experts);
  CHECK_FALSE(dense.hybrid);
  CHECK(dense.ffn == 512);
  const Transformer mixed = transformer_of(keys + R"(, "layer_types": ["mamba", "attention"]})");
  CHECK(mixed.layers == 2);
  CHECK(mixed.hybrid->pattern == "M-*-");
  CHECK(mixed.hybrid->head_dim == 64);  // 2 x 4096 over 128 heads
  CHECK_FALSE(mixed.rotary());
  CHECK(transformer_of(keys + "}").hybrid->pattern == "M-M-");
  CHECK(has(refusal_of(keys + R"(, "layer_types": ["mamba", "convolution"]})"),
            "'layer_types' has 'convolution'"));

  const Transformer next = transformer_of(R"({"model_type": "qwen3_next", "num_hidden_layers": 8,
      "mlp_only_layers": [0]})");
  CHECK(next.hybrid->pattern == "G-GEGE*EGEGEGE*E");
  CHECK(next.hybrid->parts == 2);
  CHECK(next.hybrid->delta_net == GatedDeltaNet{.key_heads = 16, .value_heads = 32});
  CHECK(next.attention_gate);
  CHECK(next.experts->shared_gate);
  CHECK(next.rotary());
  CHECK(transformer_of(R"({"model_type": "qwen3_5_text", "num_hidden_layers": 2, "layer_types":
      ["linear_attention", "full_attention"]})")
            .hybrid->pattern == "G-*-");

  const std::string nemotron = R"({"model_type": "nemotron_h", "hybrid_override_pattern": ")";
  const Transformer plain = transformer_of(nemotron + R"(M-M*"})");
  CHECK(plain.layers == 4);
  CHECK_FALSE(plain.experts);
  CHECK(plain.ffn == 21504);
  CHECK(transformer_of(nemotron + R"(ME*"})").experts->shared_ffn == 7688);
  CHECK(has(refusal_of(nemotron + R"(MX"})"), "must be of the letters M, *, - and E"));
  CHECK(has(refusal_of(nemotron + R"(ME", "moe_latent_size": 1024})"), "'moe_latent_size'"));
  CHECK(transformer_of(R"({"model_type": "bamba", "num_hidden_layers": 3,
      "attn_layer_indices": [1]})")
            .hybrid->pattern == "M-*-M-");
}

TEST_CASE("sinks, caps, gates and norms behind are read, and nothing is noted of them") {
  for (const std::string type : {"gpt_oss", "gemma2", "gemma3_text", "qwen3_next", "qwen2_moe"}) {
    CAPTURE(type);
    const Model model = model_of("{\"model_type\": \"" + type + "\"}");
    CHECK(model.notes.size() == 1);
    CHECK(has_note(model, "assumed, as " + type + " has them by default"));
  }
  const Transformer oss = transformer_of(R"({"model_type": "gpt_oss"})");
  CHECK(oss.sinks);
  CHECK(oss.experts->bias);
  const Transformer gemma = transformer_of(R"({"model_type": "gemma2"})");
  CHECK(gemma.sandwich_norm);
  CHECK(gemma.score_cap);
  CHECK(gemma.logit_cap);
  const Transformer uncapped = transformer_of(R"({"model_type": "gemma2",
      "attn_logit_softcapping": null, "final_logit_softcapping": null})");
  CHECK_FALSE(uncapped.score_cap);
  CHECK_FALSE(uncapped.logit_cap);
  CHECK_FALSE(transformer_of(R"({"model_type": "gemma3_text"})").score_cap);
  CHECK_FALSE(
      transformer_of(R"({"model_type": "qwen3_next", "attn_output_gate": false})").attention_gate);
}

TEST_CASE("a list of one value for all layers is that value") {
  const std::string type = R"({"model_type": "hunyuan_v1_moe", "num_experts": 4,
      "moe_intermediate_size": 64, "moe_topk": )";
  CHECK(transformer_of(type + "[2, 2]}").experts->top_k == 2);
  CHECK(has(refusal_of(type + "[2, 3]}"), "'moe_topk' must be one value"));
}

TEST_CASE("parts beside the text, and another head than that of words, are noted") {
  CHECK(has_note(model_of(R"({"model_type": "x", "vision_config": {"depth": 1},
      "text_config": {"model_type": "llama"}})"),
                 "text_config alone is simulated, without vision_config"));
  CHECK(has_note(model_of(R"({"model_type": "llama",
      "architectures": ["LlamaForSequenceClassification"]})"),
                 "architectures LlamaForSequenceClassification: the head of a language model"));
}
