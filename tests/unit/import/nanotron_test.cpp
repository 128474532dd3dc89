// nanotron's YAML files: model, split, batch, and mistakes.
#include "tests/unit/import/import_of.hpp"

using namespace stepsim;

namespace {

const std::string kModel =
    "model:\n  ddp_bucket_cap_mb: 50\n  dtype: bfloat16\n  init_method:\n    std: 0.02\n"
    "  make_vocab_size_divisible_by: 64\n  model_config:\n    hidden_size: 2048\n"
    "    intermediate_size: 8192\n    is_llama_config: true\n    num_attention_heads: 32\n"
    "    num_hidden_layers: 16\n    num_key_value_heads: 8\n    rope_theta: 500000.0\n"
    "    tie_word_embeddings: true\n    vocab_size: 128256\n";
const std::string kRest =
    "optimizer:\n  accumulate_grad_in_fp32: true\n  clip_grad: 1.0\n  optimizer_factory:\n"
    "    name: adamW\n    torch_adam_is_fused: true\n  zero_stage: 1\n"
    "parallelism:\n  dp: 8\n  pp: 2\n  pp_engine: 1f1b\n  tp: 2\n"
    "  tp_linear_async_communication: true\n  tp_mode: REDUCE_SCATTER\n"
    "tokens:\n  batch_accumulation_per_replica: 4\n  micro_batch_size: 2\n"
    "  sequence_length: 4096\n  train_steps: 100\n";

}  // namespace

TEST_CASE("a nanotron file is recognised, and its values arrive") {
  const ImportResult r = import_of("run.yaml", "general:\n  project: x\n" + kModel + kRest);
  const Scenario& s = r.scenario;
  const Transformer& model = std::get<Transformer>(s.model.shape);
  CHECK(model.layers == 16);
  CHECK(model.kv_heads == 8);
  CHECK(model.tied_embeddings);
  CHECK(s.cluster.gpus() == 32);
  CHECK(s.training.sequence_length == 4096);
  CHECK(s.training.micro_batch == 2);
  CHECK(s.training.global_batch == 2 * 4 * 8);
  CHECK(s.training.precision == Precision::bf16);
  CHECK(s.training.gradients == Precision::fp32);
  CHECK(s.training.vocabulary_multiple == 64);
  CHECK(s.parallelism.tensor == 2);
  CHECK(s.parallelism.sequence);
  CHECK(s.parallelism.pipeline.stages == 2);
  CHECK(s.parallelism.data.sharding == sharding_named("zero1"));
  CHECK(s.parallelism.data.bucket.bytes() == 50.0 * 1024 * 1024);
  CHECK_FALSE(r.says("not simulated"));
}

TEST_CASE("experts of a nanotron file arrive, and a window is a note") {
  const ImportResult r = import_of(
      "moe.yaml", kModel +
                      "    sliding_window_size: 4096\n    moe_config:\n      num_experts: 16\n"
                      "      top_k: 4\n      moe_intermediate_size: 1024\n"
                      "      enable_shared_expert: true\n"
                      "      shared_expert_intermediate_size: 2048\n" +
                      kRest);
  const auto& experts = std::get<Transformer>(r.scenario.model.shape).experts;
  REQUIRE(experts);
  CHECK(experts->count == 16);
  CHECK(experts->top_k == 4);
  CHECK(experts->shared_ffn == 2048);
  CHECK(r.says("model.model_config.sliding_window_size: tokens attend to all before them"));
}

// ParallelismArgs of huggingface/nanotron src/nanotron/config/parallelism_config.py.
TEST_CASE("what nanotron takes for a split that is left open, in letters of either size") {
  const std::string split =
      "optimizer:\n  zero_stage: 0\nparallelism:\n  dp: 4\n  pp: 2\n  tp: 2\n"
      "tokens:\n  batch_accumulation_per_replica: 4\n  micro_batch_size: 1\n"
      "  sequence_length: 4096\n";
  const std::string small = "parallelism:\n  tp_mode: reduce_scatter\n  pp_engine: 1f1b\n";
  const Parallelism open = import_of("run.yaml", kModel + split).scenario.parallelism;
  CHECK(open.pipeline.schedule == "gpipe");
  CHECK_FALSE(open.sequence);
  std::string stated = kModel + split;
  stated.replace(stated.find("parallelism:\n"), std::string("parallelism:\n").size(), small);
  const Parallelism found = import_of("run.yaml", stated).scenario.parallelism;
  CHECK(found.pipeline.schedule == "1f1b");
  CHECK(found.sequence);
}

// LlamaConfig and Starcoder2Config of huggingface/nanotron src/nanotron/config/models_config.py.
TEST_CASE("what nanotron takes for a model's size that is left open") {
  const auto model = [](const std::string& keys) {
    return std::get<Transformer>(
        import_of("run.yaml",
                  "model:\n  model_config:\n    hidden_size: 4096\n    num_attention_heads: 32\n"
                  "    num_hidden_layers: 16\n    vocab_size: 49152\n" +
                      keys + kRest)
            .scenario.model.shape);
  };
  const Transformer llama = model("    is_llama_config: true\n");
  CHECK(llama.ffn == 11008);
  CHECK(llama.kv_heads == 32);
  CHECK_FALSE(llama.dropout);
  const Transformer starcoder = model("    is_starcoder2_config: true\n    num_kv_heads: 4\n");
  CHECK(starcoder.ffn == 4 * 4096);
  CHECK(starcoder.kv_heads == 1);
  CHECK(starcoder.dropout);
  CHECK(model("    is_starcoder2_config: true\n    grouped_query: true\n    num_kv_heads: 4\n")
            .kv_heads == 4);
  CHECK_FALSE(model("    is_starcoder2_config: true\n    attn_pdrop: 0\n    embd_pdrop: 0\n"
                    "    resid_pdrop: 0\n")
                  .dropout);
}

TEST_CASE("mistakes in a nanotron file have their place") {
  CHECK(refusal_of("run.yaml", kModel + "parallelism:\n  dp: 0\ntokens:\n  sequence_length: 1\n")
            .starts_with("run.yaml:18:7: parallelism.dp: 0 is not a whole number from 1 to 1e12"));
  CHECK(refusal_of("run.yaml", "model:\n  model_config:\n    hidden_size: 8\n" + kRest)
            .find("name the model with --model NAME") != std::string::npos);
  CHECK(import_of("run.yaml", kModel + kRest + "  micro_batch_sizes: 4\n")
            .says("tokens.micro_batch_sizes: not known here, did you mean 'micro_batch_size'?"));
}
