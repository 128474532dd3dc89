// axolotl's YAML files: FSDP, DeepSpeed, adapters, and mistakes.
#include "tests/unit/import/import_of.hpp"

using namespace stepsim;

namespace {

const std::string kFull =
    "base_model: NousResearch/Meta-Llama-3.1-8B\nsequence_len: 8192\nsample_packing: true\n"
    "gradient_accumulation_steps: 2\nmicro_batch_size: 4\noptimizer: adamw_torch_fused\n"
    "bf16: true\ntf32: true\ngradient_checkpointing: true\nflash_attention: true\n"
    "datasets:\n  - path: some/data\n    type: alpaca\nlearning_rate: 2e-5\n";

}  // namespace

TEST_CASE("an axolotl file with FSDP is recognised, and its values arrive") {
  const ImportResult r = import_of("run.yaml", kFull +
                                                   "fsdp_version: 2\nfsdp_config:\n"
                                                   "  auto_wrap_policy: TRANSFORMER_BASED_WRAP\n"
                                                   "  offload_params: false\n"
                                                   "  reshard_after_forward: true\n"
                                                   "  state_dict_type: FULL_STATE_DICT\n");
  const Scenario& s = r.scenario;
  CHECK(s.framework == Framework::pytorch_fsdp2);
  CHECK(s.model.name == "llama3-8b");
  CHECK(s.training.sequence_length == 8192);
  CHECK(s.training.micro_batch == 4);
  CHECK(s.training.global_batch == 4 * 2 * 8);
  CHECK(s.training.precision == Precision::bf16);
  CHECK(s.training.recompute.kind == Recompute::full);
  CHECK(s.training.gradient_clipping);
  CHECK(s.parallelism.data.sharding == sharding_named("zero3"));
  CHECK_FALSE(r.says("not simulated"));
  CHECK(r.says("assumed: nodes 1 of 8 GPUs: not stated"));
  CHECK(r.says("assumed: documents one a sequence: sample_packing: true"));
}

TEST_CASE("axolotl fills DeepSpeed's file in as the Trainer does it") {
  const TemporaryFolder folder;
  const std::string path =
      folder.file("zero3.json", R"({"zero_optimization": {"stage": 3, "reduce_bucket_size": "auto"},
      "bf16": {"enabled": true}, "gradient_accumulation_steps": "auto",
      "train_batch_size": "auto", "train_micro_batch_size_per_gpu": "auto"})");
  const ImportResult r = import_of("run.yaml", kFull + "deepspeed: " + path + "\n");
  CHECK(r.scenario.framework == Framework::deepspeed);
  CHECK(r.scenario.training.global_batch == 4 * 2 * 8);
  CHECK(r.scenario.parallelism.data.bucket.bytes() == 4096.0 * 4096 * 2);
  CHECK(r.scenario.training.recompute.kind == Recompute::full);
  CHECK_FALSE(r.says("assumed: micro-batch"));
  CHECK(refusal_of("run.yaml", kFull + "deepspeed: nowhere/zero9.json\n")
            .starts_with("run.yaml:15:12: deepspeed: there is no file 'nowhere/zero9.json' here"));
}

// Defaults of axolotl-ai-cloud/axolotl src/axolotl/utils/schemas/config.py and training.py.
TEST_CASE("what an axolotl file leaves out is axolotl's default, and each is listed") {
  const std::string least = "base_model: NousResearch/Meta-Llama-3.1-8B\ndatasets:\n  - path: x\n";
  const ImportResult r = import_of("run.yaml", least);
  CHECK(r.scenario.training.sequence_length == 512);
  CHECK(r.scenario.training.micro_batch == 1);
  CHECK(r.scenario.training.global_batch == 8);
  CHECK(r.scenario.training.precision == Precision::bf16);
  for (const char* said :
       {"assumed: sequence length 512: not stated; the default of axolotl's sequence_len",
        "assumed: micro-batch 1: not stated; the default of axolotl's micro_batch_size",
        "assumed: accumulation 1: not stated; the default of axolotl's gradient_accumulation_steps",
        "assumed: precision bf16: bf16: auto, axolotl's default, takes what the GPU has"}) {
    CAPTURE(said);
    CHECK(r.says(said));
  }
  CHECK_FALSE(r.says("TrainingArguments"));
}

// resolve_dtype of src/axolotl/utils/config/__init__.py, check_tf32 of utils/schemas/config.py.
TEST_CASE("axolotl's bf16 and tf32 are what the GPU has unless they are off") {
  const auto precision = [](const std::string& keys) {
    return import_of("run.yaml",
                     "base_model: NousResearch/Meta-Llama-3.1-8B\nsequence_len: 512\n" + keys)
        .scenario.training.precision;
  };
  CHECK(precision("bf16: auto\n") == Precision::bf16);
  CHECK(precision("fp16: true\n") == Precision::fp16);
  CHECK(precision("bf16: false\n") == Precision::tf32);
  CHECK(precision("bf16: false\ntf32: false\n") == Precision::fp32);
}

TEST_CASE("a batch of DeepSpeed's file counts before axolotl's default") {
  const TemporaryFolder folder;
  const std::string path = folder.file("zero2.json", R"({"train_micro_batch_size_per_gpu": 4,
      "gradient_accumulation_steps": 2, "zero_optimization": {"stage": 2}})");
  const ImportResult r = import_of(
      "run.yaml",
      "base_model: NousResearch/Meta-Llama-3.1-8B\nsequence_len: 512\ndeepspeed: " + path + "\n");
  CHECK(r.scenario.training.micro_batch == 4);
  CHECK(r.scenario.training.global_batch == 4 * 2 * 8);
}

TEST_CASE("an adapter of an axolotl file is LoRA") {
  const ImportResult r = import_of(
      "lora.yaml", kFull +
                       "adapter: qlora\nload_in_4bit: true\nlora_r: 32\nlora_dropout: 0.05\n"
                       "lora_target_modules:\n  - q_proj\n  - v_proj\n  - down_proj\n");
  REQUIRE(r.scenario.training.lora);
  CHECK(r.scenario.training.lora->rank == 32);
  CHECK(r.scenario.training.lora->dropout);
  CHECK(r.scenario.training.lora->target_modules.size() == 3);
  CHECK(r.says("load_in_4bit: frozen weights are kept in the precision of the run"));
}

TEST_CASE("mistakes in an axolotl file have their place") {
  CHECK(refusal_of("run.yaml", "base_model: acme/secret-9b\nsequence_len: 4096\n")
            .starts_with("run.yaml:1:13: base_model: the model 'acme/secret-9b' is not in models/, "
                         "name one with --model NAME"));
  CHECK(refusal_of("run.yaml", "base_model: x/llama-3-8b\nsequence_len: long\n") ==
        "run.yaml:2:15: sequence_len: \"long\" is not a number\n"
        "  sequence_len: long\n"
        "                ^");
  CHECK(import_of("run.yaml", kFull + "micro_batchsize: 4\n")
            .says("micro_batchsize: not known here, did you mean 'micro_batch_size'?"));
  CHECK_FALSE(import_of("run.yaml", kFull + "special_tokens:\n  pad_token: x\n").says("special"));
}
