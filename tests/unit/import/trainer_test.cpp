// Files of TrainingArguments: DDP, FSDP and DeepSpeed as they name it.
#include "tests/unit/import/import_of.hpp"

using namespace stepsim;

namespace {

const std::string kArguments =
    "model_name_or_path: Qwen/Qwen2.5-7B-Instruct\nstage: sft\ncutoff_len: 2048\n"
    "per_device_train_batch_size: 1\ngradient_accumulation_steps: 8\nbf16: true\n"
    "learning_rate: 1.0e-5\noptim: adamw_torch_fused\n";

}  // namespace

TEST_CASE("TrainingArguments alone are DDP") {
  const ImportResult r = import_of("sft.yaml", kArguments, {.nodes = 2});
  CHECK(r.scenario.framework == Framework::pytorch_ddp);
  CHECK(r.scenario.model.name == "qwen2.5-7b");
  CHECK(r.scenario.training.sequence_length == 2048);
  CHECK(r.scenario.training.global_batch == 8 * 16);
  CHECK(r.scenario.training.precision == Precision::bf16);
  CHECK_FALSE(r.says("assumed: micro-batch"));
}

TEST_CASE("TrainingArguments name FSDP's strategy in words") {
  const Scenario s = import_of("sft.json", R"({"per_device_train_batch_size": 2, "bf16": true,
      "fsdp": "shard_grad_op auto_wrap", "fsdp_config": {"backward_prefetch": "backward_pre"}})")
                         .scenario;
  CHECK(s.framework == Framework::pytorch_fsdp1);
  CHECK(s.parallelism.data.reshard_after_forward == Reshard::none);
  CHECK(s.parallelism.data.backward_prefetch == Prefetch::pre);
}

TEST_CASE("TrainingArguments fill in the DeepSpeed file that they name") {
  const TemporaryFolder folder;
  const std::string path = folder.file(
      "z2.json", R"({"bf16": {"enabled": "auto"}, "train_micro_batch_size_per_gpu": "auto",
      "gradient_accumulation_steps": "auto", "zero_optimization": {"stage": 2}})");
  const ImportResult r = import_of("sft.yaml", kArguments + "deepspeed: " + path + "\n");
  CHECK(r.scenario.framework == Framework::deepspeed);
  CHECK(r.scenario.training.global_batch == 8 * 8);
  CHECK(r.scenario.training.precision == Precision::bf16);
  CHECK(refusal_of("sft.yaml", kArguments + "deepspeed: no/z9.json\n")
            .starts_with("sft.yaml:9:12: deepspeed: there is no file 'no/z9.json' here"));
}
