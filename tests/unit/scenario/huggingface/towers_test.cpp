// Configs of published models that see images, and how many parameters they have.
//
// Dimensions are those of the config.json of each model on Hugging Face, without keys that have
// their class's default or cost nothing. Counts follow from them, and were compared with figures of
// the checkpoints from memory, which were not looked up.
#include <algorithm>
#include <string>
#include <string_view>

#include <doctest/doctest.h>

#include "sim/ops/blocks.hpp"
#include "tests/source_folder.hpp"
#include "tests/unit/scenario/huggingface/configs.hpp"

using namespace stepsim;

namespace {

VisionTower tower_of(const std::string& json) {
  return *std::get<Transformer>(model_of(json).shape).tower;
}

/// Those of models/NAME.yaml, which a test compares with what was published.
Model known(const char* name) { return load_model(name, Library{{source_folder()}}); }

const std::string kQwen25 = R"({"model_type": "qwen2_5_vl", "hidden_size": 3584,
    "intermediate_size": 18944, "num_attention_heads": 28, "num_hidden_layers": 28,
    "num_key_value_heads": 4, "vocab_size": 152064, "tie_word_embeddings": false,
    "vision_config": {"depth": 32, "hidden_act": "silu", "hidden_size": 1280,
    "intermediate_size": 3420, "num_heads": 16, "in_chans": 3, "out_hidden_size": 3584,
    "patch_size": 14, "spatial_merge_size": 2, "spatial_patch_size": 14, "window_size": 112,
    "fullatt_block_indexes": [7, 15, 23, 31], "tokens_per_second": 2, "temporal_patch_size": 2}})";

const std::string kGemma = R"({"model_type": "gemma3", "mm_tokens_per_image": 256,
    "text_config": {"hidden_size": 3840, "intermediate_size": 15360, "model_type": "gemma3_text",
    "num_attention_heads": 16, "num_hidden_layers": 48, "num_key_value_heads": 8,
    "sliding_window": 1024}, "vision_config": {"hidden_size": 1152, "image_size": 896,
    "intermediate_size": 4304, "model_type": "siglip_vision_model", "num_attention_heads": 16,
    "num_hidden_layers": 27, "patch_size": 14, "vision_use_head": false}})";

const std::string kLlava = R"({"model_type": "llava", "image_seq_length": 576,
    "text_config": {"model_type": "llama", "vocab_size": 32064}, "vision_feature_layer": -2,
    "vision_config": {"hidden_size": 1024, "image_size": 336, "intermediate_size": 4096,
    "model_type": "clip_vision_model", "num_attention_heads": 16, "num_hidden_layers": 24,
    "patch_size": 14, "projection_dim": 768, "vocab_size": 32000}})";

}  // namespace

TEST_CASE("towers of configs are those of the models that were written by hand") {
  for (const auto& [json, name] :
       {std::pair{kQwen25, "qwen2.5-vl-7b"}, {kGemma, "gemma3-12b-vl"}, {kLlava, "llava-1.5-7b"}}) {
    CAPTURE(name);
    const Model published = known(name);
    CHECK(tower_of(json) == *std::get<Transformer>(published.shape).tower);
    CHECK(parameter_count(model_of(json)) == published.published_parameters);
  }
}

TEST_CASE("other towers have the published parameters") {
  // Qwen/Qwen2-VL-7B-Instruct.
  CHECK(parameter_count(model_of(R"({"model_type": "qwen2_vl", "hidden_size": 3584,
      "intermediate_size": 18944, "num_attention_heads": 28, "num_hidden_layers": 28,
      "num_key_value_heads": 4, "vocab_size": 152064, "tie_word_embeddings": false,
      "vision_config": {"depth": 32, "embed_dim": 1280, "mlp_ratio": 4, "num_heads": 16,
      "in_chans": 3, "hidden_size": 3584, "patch_size": 14, "spatial_merge_size": 2,
      "spatial_patch_size": 14, "temporal_patch_size": 2}})")) == 8'291'375'616);
  // meta-llama/Llama-4-Scout-17B-16E.
  const std::string scout = R"({"model_type": "llama4", "text_config": {"model_type": "llama4_text",
      "num_local_experts": 16, "interleave_moe_layer_step": 1}, "vision_config": {
      "hidden_size": 1408, "image_size": 336, "intermediate_size": 5632, "num_attention_heads": 16,
      "num_hidden_layers": 34, "patch_size": 14, "pixel_shuffle_ratio": 0.5,
      "projector_input_dim": 4096, "projector_output_dim": 4096, "vision_output_dim": 4096,
      "multi_modal_projector_bias": false}})";
  // Norms of its queries and keys have no weights: they have here, 2 x 128 a layer.
  CHECK(parameter_count(model_of(scout)) - 48 * 2 * 128 == 108'641'793'536);
  CHECK(tower_of(scout).merge == 2);
  CHECK(tower_of(scout).projector == std::vector<std::int64_t>{4096, 4096});
  // Qwen/Qwen3-VL-8B-Instruct. Each further projector has a norm over squares of patches.
  const Model qwen3 = model_of(R"({"model_type": "qwen3_vl", "tie_word_embeddings": false,
      "text_config": {"model_type": "qwen3_vl_text", "hidden_size": 4096, "head_dim": 128,
      "intermediate_size": 12288, "num_attention_heads": 32, "num_hidden_layers": 36,
      "num_key_value_heads": 8, "vocab_size": 151936}, "vision_config": {"depth": 27,
      "hidden_size": 1152, "intermediate_size": 4304, "num_heads": 16, "out_hidden_size": 4096,
      "deepstack_visual_indexes": [8, 16, 24], "num_position_embeddings": 2304,
      "patch_size": 16}})");
  const double square = 4 * 1152;
  const double deep = 2 * square + square * (square + 1) + (square + 1) * 4096;
  CHECK(parameter_count(qwen3) + 3 * deep == 8'767'123'696);
  // llava-hf/llava-v1.6-mistral-7b-hf has a vector of its own between rows of an image.
  CHECK(parameter_count(model_of(R"({"model_type": "llava_next", "text_config": {
      "model_type": "mistral", "vocab_size": 32064}, "vision_config": {
      "model_type": "clip_vision_model"}})")) +
            4096 ==
        7'566'747'648);
  CHECK(has_note(qwen3, "vision_config: deepstack_visual_indexes: 3 further projectors"));
}

TEST_CASE("what a tower cannot be is refused at its place, and others are left out") {
  const auto with = [](std::string json, const std::string& was, const std::string& is) {
    return json.replace(json.find(was), was.size(), is);
  };
  CHECK(has(refusal_of(with(kQwen25, "[7, 15, 23, 31]", "[7, 15, 22, 31]")),
            "'fullatt_block_indexes' must name the last of every so many layers"));
  CHECK(has(refusal_of(with(kQwen25, "[7, 15, 23, 31]", "7")), "must be a list of numbers"));
  CHECK(has(refusal_of(with(kQwen25, "\"depth\": 32", "\"depth\": 0")),
            "'depth' must be an integer"));
  CHECK(has(refusal_of(with(kQwen25, "\"depth\": 32", "\"depth\": 999999999")),
            "'fullatt_block_indexes' leaves out layers of the 999999999 that take turns"));
  CHECK(has(refusal_of(with(kQwen25, "merge_size\": 2", "merge_size\": 999999999")),
            "'spatial_merge_size' must be at most 1000"));
  CHECK(has(
      refusal_of(R"({"model_type": "llama4", "vision_config": {"pixel_shuffle_ratio": 1e-30}})"),
      "'pixel_shuffle_ratio' must be one part of a whole number"));
  CHECK(has(refusal_of(with(kGemma, "image_size\": 896", "image_size\": 999999999")),
            "patches are no squares of 256 tokens"));
  CHECK(has(refusal_of(with(kGemma, "image\": 256", "image\": 250")),
            "'mm_tokens_per_image' does not fit: 64 x 64 patches are no squares of 250 tokens"));
  CHECK(has(refusal_of(with(kGemma, "\"num_attention_heads\": 16,\n    \"num_hidden_layers\": 27",
                            "\"num_attention_heads\": 0,\n    \"num_hidden_layers\": 27")),
            "'num_attention_heads' must be an integer"));
  CHECK(has(refusal_of(with(kLlava, "\"vision_config\": {", "\"vision_config\": 5, \"x\": {")),
            "'vision_config' must be a map, not a value"));
  const Model pixtral = model_of(with(kLlava, "clip_vision_model", "pixtral"));
  CHECK_FALSE(std::get<Transformer>(pixtral.shape).tower);
  CHECK(has_note(pixtral, "text_config alone is simulated, without vision_config"));
}
