// accelerate's configurations: FSDP in both versions, DDP, DeepSpeed, and mistakes.
#include "tests/unit/import/import_of.hpp"

using namespace stepsim;

namespace {

std::string fsdp(const std::string& keys, const std::string& rest = "") {
  return "compute_environment: LOCAL_MACHINE\ndistributed_type: FSDP\ndowncast_bf16: 'no'\n"
         "fsdp_config:\n  fsdp_auto_wrap_policy: TRANSFORMER_BASED_WRAP\n" +
         keys + "machine_rank: 0\nmixed_precision: bf16\nnum_machines: 2\nnum_processes: 16\n" +
         rest;
}

const ImportOptions kStated{.model = "llama3-8b",
                            .sequence_length = 4096,
                            .cluster = "dgx-h100",
                            .micro_batch = 2,
                            .accumulation = 4};

}  // namespace

TEST_CASE("FSDP1 is recognised and arrives") {
  const ImportResult r = import_of("fsdp.yaml",
                                   fsdp("  fsdp_backward_prefetch: BACKWARD_PRE\n"
                                        "  fsdp_sharding_strategy: FULL_SHARD\n"
                                        "  fsdp_forward_prefetch: false\n"
                                        "  fsdp_state_dict_type: FULL_STATE_DICT\n"),
                                   kStated);
  const Scenario& s = r.scenario;
  CHECK(s.framework == Framework::pytorch_fsdp1);
  CHECK(s.cluster.gpus() == 16);
  CHECK(s.cluster.nodes == 2);
  CHECK(s.training.precision == Precision::bf16);
  CHECK(s.training.micro_batch == 2);
  CHECK(s.training.global_batch == 2 * 4 * 16);
  CHECK(s.parallelism.data.sharding == sharding_named("zero3"));
  CHECK(s.parallelism.data.backward_prefetch == Prefetch::pre);
  CHECK_FALSE(s.parallelism.data.shard_degree);
  CHECK(r.notes.starts_with("assumed: parameters fp32: "));
  CHECK(r.notes.find('\n') == r.notes.size() - 1);
}

TEST_CASE("strategies of FSDP1 have names and numbers") {
  const auto data = [](const std::string& strategy) {
    return import_of("fsdp.yaml", fsdp("  fsdp_sharding_strategy: " + strategy + "\n"), kStated)
        .scenario.parallelism.data;
  };
  CHECK(data("SHARD_GRAD_OP").reshard_after_forward == Reshard::none);
  CHECK(data("2").reshard_after_forward == Reshard::none);
  CHECK(data("HYBRID_SHARD").shard_degree == 8);
  CHECK(data("NO_SHARD").sharding == sharding_named("ddp"));
  CHECK(refusal_of("fsdp.yaml", fsdp("  fsdp_sharding_strategy: FULL_SHARDS\n"), kStated)
            .find("did you mean 'FULL_SHARD'?") != std::string::npos);
}

TEST_CASE("FSDP2 and splits beside it arrive") {
  const ImportResult r = import_of("fsdp2.yaml",
                                   fsdp("  fsdp_version: 2\n  fsdp_reshard_after_forward: false\n"
                                        "  fsdp_activation_checkpointing: true\n",
                                        "parallelism_config:\n"
                                        "  parallelism_config_cp_size: 2\n"
                                        "  parallelism_config_dp_replicate_size: 2\n"
                                        "  parallelism_config_dp_shard_size: 2\n"
                                        "  parallelism_config_tp_size: 2\n"),
                                   kStated);
  const Parallelism& p = r.scenario.parallelism;
  CHECK(r.scenario.framework == Framework::pytorch_fsdp2);
  CHECK(p.data.reshard_after_forward == Reshard::none);
  CHECK(r.scenario.training.recompute.kind == Recompute::full);
  CHECK(p.tensor == 2);
  CHECK(p.context.degree == 2);
  CHECK(p.data.shard_degree == 2);
  CHECK(r.scenario.training.global_batch == 2 * 4 * 4);
}

TEST_CASE("what an accelerate file leaves to the program is assumed and listed") {
  const ImportResult r =
      import_of("ddp.yaml", "distributed_type: MULTI_GPU\nnum_processes: 4\nnum_machines: 1\n");
  CHECK(r.scenario.framework == Framework::pytorch_ddp);
  CHECK(r.scenario.cluster.gpus() == 4);
  CHECK(r.scenario.training.micro_batch == 8);
  for (const char* said :
       {"assumed: model llama2-7b: ", "assumed: sequence length 2048: ", "assumed: micro-batch 8: ",
        "assumed: accumulation 1: ", "assumed: precision bf16: ", "assumed: cluster dgx-h100: "}) {
    CAPTURE(said);
    CHECK(r.says(said));
  }
}

TEST_CASE("DeepSpeed within accelerate is DeepSpeed's plugin") {
  const ImportResult r = import_of("ds.yaml",
                                   "distributed_type: DEEPSPEED\n"
                                   "deepspeed_config:\n"
                                   "  gradient_accumulation_steps: 4\n"
                                   "  gradient_clipping: 1.0\n"
                                   "  offload_optimizer_device: cpu\n"
                                   "  offload_param_device: none\n"
                                   "  zero3_init_flag: true\n"
                                   "  zero_stage: 2\n"
                                   "mixed_precision: bf16\nnum_machines: 1\nnum_processes: 8\n",
                                   {.micro_batch = 2});
  const Scenario& s = r.scenario;
  CHECK(s.framework == Framework::deepspeed);
  CHECK(s.parallelism.data.sharding == sharding_named("zero2"));
  CHECK(s.parallelism.data.offload_optimizer);
  CHECK(s.training.precision == Precision::bf16);
  CHECK(s.training.gradient_clipping);
  CHECK(s.training.micro_batch == 2);
  CHECK(s.training.global_batch == 2 * 4 * 8);
  CHECK_FALSE(r.says("assumed: precision"));
  CHECK_FALSE(r.says("assumed: nodes"));
}

// DeepSpeedPlugin of huggingface/accelerate src/accelerate/utils/dataclasses.py.
TEST_CASE("DeepSpeed's plugin leaves clipping to the Trainer") {
  const std::string file = "distributed_type: DEEPSPEED\nnum_processes: 8\nnum_machines: 1\n";
  const ImportResult open = import_of("ds.yaml", file);
  CHECK(open.scenario.training.gradient_clipping);
  CHECK(open.says("assumed: gradient clipping 1.0: \"auto\" is TrainingArguments'"));
  const TemporaryFolder folder;
  const std::string path = folder.file("args.yaml", "max_grad_norm: 0\n");
  CHECK_FALSE(
      import_of("ds.yaml", file, {.training_arguments = path}).scenario.training.gradient_clipping);
}

TEST_CASE("DeepSpeed's file beside accelerate's is read") {
  const TemporaryFolder folder;
  const std::string path = folder.file(
      "zero3.json", R"({"train_micro_batch_size_per_gpu": "auto", "train_batch_size": "auto",
      "gradient_accumulation_steps": 1, "fp16": {"enabled": "auto"},
      "zero_optimization": {"stage": 3}})");
  const Scenario s = import_of("ds.yaml",
                               "distributed_type: DEEPSPEED\ndeepspeed_config:\n"
                               "  deepspeed_config_file: " +
                                   path + "\nnum_processes: 16\nnum_machines: 2\n")
                         .scenario;
  CHECK(s.parallelism.data.sharding == sharding_named("zero3"));
  CHECK(s.training.precision == Precision::fp16);
  CHECK(s.training.global_batch == 8 * 16);
}

TEST_CASE("mistakes in an accelerate file have their place") {
  CHECK(refusal_of("a.yaml", "distributed_type: MEGATRON_LM\nnum_processes: 1\n") ==
        "a.yaml:1:19: distributed_type: 'MEGATRON_LM' is not NO, MULTI_GPU, FSDP or DEEPSPEED, "
        "import Megatron-LM's command line: stepsim import megatron\n"
        "  distributed_type: MEGATRON_LM\n"
        "                    ^");
  CHECK(refusal_of("a.yaml", "distributed_type: TPU\n").find("such devices are not simulated") !=
        std::string::npos);
  CHECK(refusal_of("a.yaml", "distributed_type: FSDP\nnum_processes: many\n") ==
        "a.yaml:2:16: num_processes: \"many\" is not a number\n"
        "  num_processes: many\n"
        "                 ^");
  CHECK(refusal_of("a.yaml", "distributed_type: FSDP\ndistributed_type: NO\n")
            .starts_with("a.yaml:2:1: 'distributed_type' is there twice"));
  const ImportResult r =
      import_of("a.yaml", fsdp("  fsdp_sharding_stratgy: FULL_SHARD\n"), kStated);
  CHECK(
      r.says("fsdp_config.fsdp_sharding_stratgy: not known here, did you mean "
             "'fsdp_sharding_strategy'?"));
  CHECK(import_of("a.yaml", "distributed_type: FSDP\nmixed_precision: bf16\nnum_processes: 8\n",
                  kStated)
            .says("fsdp_auto_wrap_policy NO_WRAP: "));
}
