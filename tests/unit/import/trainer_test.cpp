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

TEST_CASE("packed sequences are whole documents, unless their tokens see all of the sequence") {
  const std::string said = "assumed: documents one a sequence: ";
  const std::string trl = "per_device_train_batch_size: 2\nmax_length: 1024\nbf16: true\n";
  CHECK(import_of("trl.yaml", trl + "packing: true\n").says(said + "packing: true: tokens attend"));
  CHECK(import_of("trl.yaml", trl + "packing: true\n")
            .says("(state it: training.packing: {mean: TOKENS} in the scenario)"));
  CHECK_FALSE(import_of("trl.yaml", trl + "packing: true\npacking_strategy: wrapped\n").says(said));
  CHECK(import_of("trl.yaml", trl + "packing: false\n").says("packing: sequences have one length"));
  CHECK(import_of("sft.yaml", kArguments + "neat_packing: true\n").says(said + "neat_packing"));
  CHECK_FALSE(import_of("sft.yaml", kArguments + "packing: true\n").says(said));
}

TEST_CASE("a model with a tower has an image in each sequence, which is assumed") {
  const ImportResult free = import_of("sft.yaml", kArguments, {.model = "qwen2.5-vl-7b"});
  CHECK(free.scenario.training.images == SequenceImages{1, 448, 448});
  CHECK(free.says("assumed: images 1 of 448 x 448 pixels a sequence"));
  const ImportResult fixed = import_of("sft.yaml", kArguments, {.model = "llava-1.5-7b"});
  CHECK(fixed.scenario.training.images == SequenceImages{1, 0, 0});
}

TEST_CASE("adapters of experts are one for all of a rank, which is said") {
  const auto says = [](const char* model, const std::string& targets) {
    return import_of("sft.yaml", kArguments + "finetuning_type: lora\nlora_target: " + targets,
                     {.model = model})
        .says("adapters of experts: one serves all experts of a rank");
  };
  CHECK(says("mixtral-8x7b", "all\n"));
  CHECK_FALSE(says("mixtral-8x7b", "q_proj,v_proj\n"));
  CHECK_FALSE(says("llama2-7b", "all\n"));
}

// All passes but the last run in accelerator.no_sync(), beside DeepSpeed none does
// (huggingface/transformers src/transformers/trainer.py).
TEST_CASE("the Trainer's gradients wait for the last of several passes") {
  const auto waits = [](const std::string& passes) {
    return import_of("sft.yaml", "per_device_train_batch_size: 2\nbf16: true\n" + passes)
        .scenario.parallelism.data.no_sync;
  };
  CHECK(waits("gradient_accumulation_steps: 8\n"));
  CHECK(waits("gradient_accumulation_steps: 8\nfsdp: full_shard auto_wrap\n"));
  CHECK_FALSE(waits("gradient_accumulation_steps: 1\n"));
}

// OptimizerNames of huggingface/transformers src/transformers/training_args.py.
TEST_CASE("an optimizer that only begins as a known one is named") {
  const auto notes = [](const std::string& name) {
    return import_of("sft.yaml", "per_device_train_batch_size: 2\noptim: " + name + "\n");
  };
  for (const char* name : {"adamw_torch_8bit", "adamw_torch_4bit", "adamw_torch_xla"}) {
    CAPTURE(name);
    CHECK(notes(name).says(std::string("optimizer ") + name + ": AdamW of PyTorch"));
  }
  const ImportResult known = notes("adamw_torch");
  CHECK(known.scenario.training.optimizer_kernels == OptimizerKernels::foreach_op);
  CHECK_FALSE(known.says("optimizer adamw_torch"));
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
  CHECK_FALSE(r.scenario.parallelism.data.no_sync);
  CHECK(refusal_of("sft.yaml", kArguments + "deepspeed: no/z9.json\n")
            .starts_with("sft.yaml:9:12: deepspeed: there is no file 'no/z9.json' here"));
}

TEST_CASE("LLaMA-Factory trains adapters and recomputes unless it is told otherwise") {
  const ImportResult unsaid = import_of("sft.yaml", kArguments);
  REQUIRE(unsaid.scenario.training.lora);
  CHECK(unsaid.scenario.training.lora->rank == 8);
  CHECK(unsaid.scenario.training.lora->target_modules.size() == 4);
  CHECK(unsaid.scenario.training.recompute.kind == Recompute::full);
  CHECK(unsaid.says("assumed: adapters LoRA"));
  CHECK(unsaid.says("assumed: recomputation full"));

  const ImportResult some =
      import_of("lora.yaml", kArguments +
                                 "finetuning_type: lora\nlora_rank: 16\nlora_dropout: 0.1\n"
                                 "lora_target: q_proj, v_proj\nquantization_bit: 4\n");
  CHECK(some.scenario.training.lora->rank == 16);
  CHECK(some.scenario.training.lora->dropout);
  CHECK(some.scenario.training.lora->target_modules.size() == 2);
  CHECK(some.says("quantization_bit: frozen weights"));

  const ImportResult router = import_of("lora.yaml", kArguments + "lora_target: q_proj, router\n");
  CHECK(router.scenario.training.lora->target_modules.size() == 1);
  CHECK(router.says("adapters of router: scenarios have none there"));
  const ImportResult unknown = import_of("lora.yaml", kArguments + "lora_target: c_attn\n");
  CHECK(unknown.says("assumed: layers with adapters q_proj and v_proj"));

  const ImportResult full =
      import_of("full.yaml", kArguments +
                                 "finetuning_type: full\ndisable_gradient_checkpointing: true\n"
                                 "pure_bf16: true\nflash_attn: disabled\nuse_galore: true\n");
  CHECK_FALSE(full.scenario.training.lora);
  CHECK(full.scenario.training.recompute.kind == Recompute::none);
  CHECK_FALSE(full.scenario.training.master_weights);
  CHECK(full.scenario.training.attention == "eager");
  CHECK(full.scenario.training.fusion == "none");
  CHECK(full.says("use_galore: AdamW"));
}

TEST_CASE("a split of LLaMA-Factory's Megatron-LM is refused") {
  CHECK(refusal_of("moe.yaml", kArguments + "pipeline_model_parallel_size: 4\n")
            .starts_with("moe.yaml:9:31: pipeline_model_parallel_size: LLaMA-Factory hands this"));
}

TEST_CASE("TRL's own defaults count") {
  const std::string head = "model_name_or_path: Qwen/Qwen3-8B\nper_device_train_batch_size: 1\n";
  const ImportResult peft =
      import_of("trl.yaml", head +
                                "max_length: 4096\nuse_peft: true\n"
                                "lora_target_modules: all-linear\nload_in_4bit: true\n"
                                "attn_implementation: flash_attention_3\n");
  REQUIRE(peft.scenario.training.lora);
  CHECK(peft.scenario.training.lora->rank == 16);
  CHECK(peft.scenario.training.lora->dropout);
  CHECK(peft.scenario.training.lora->target_modules.size() == 4);
  CHECK(peft.scenario.training.precision == Precision::bf16);
  CHECK(peft.scenario.training.recompute.kind == Recompute::full);
  CHECK(peft.scenario.training.attention == "flash3");
  CHECK(peft.says("load_in_4bit: frozen weights"));
  const ImportResult packed = import_of("trl.yaml", head + "packing: true\nbf16: false\n");
  CHECK_FALSE(packed.scenario.training.lora);
  CHECK(packed.scenario.training.precision == Precision::fp32);
  CHECK(packed.scenario.training.sequence_length == 1024);
}
