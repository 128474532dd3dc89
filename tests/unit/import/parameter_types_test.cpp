// Types of parameters, and Liger's kernels, as configurations of trainers state them.
#include "tests/unit/import/import_of.hpp"

using namespace stepsim;

namespace {

const std::string kArguments =
    "model_name_or_path: meta-llama/Llama-2-7b-hf\nper_device_train_batch_size: 1\n"
    "gradient_accumulation_steps: 1\nlearning_rate: 1e-5\n";
const std::string kNarrow = kArguments + "bf16: true\n";

const std::string kAxolotl =
    "base_model: NousResearch/Meta-Llama-3.1-8B\nsequence_len: 4096\nmicro_batch_size: 1\n"
    "gradient_accumulation_steps: 1\nbf16: true\ndatasets:\n  - path: some/data\n";

}  // namespace

TEST_CASE("the Trainer's bf16 is autocast over fp32, which is said to be assumed") {
  const ImportResult r = import_of("args.yaml", kNarrow);
  CHECK(r.scenario.training.autocast);
  CHECK(r.scenario.training.gradients == Precision::fp32);
  CHECK(r.scenario.training.parameter_element() == 4);
  CHECK(r.says("assumed: parameters fp32: "));
  CHECK_FALSE(import_of("args.yaml", kArguments + "tf32: true\n").says("parameters"));
}

TEST_CASE("under FSDP the Trainer's shards are fp32, and bf16 is gathered and reduced") {
  const ImportResult r = import_of("args.yaml", kNarrow + "fsdp: full_shard auto_wrap\n");
  const Training& t = r.scenario.training;
  CHECK_FALSE(t.autocast);
  CHECK(t.parameter_element() == 4);
  CHECK(t.gathered_element() == 2);
  CHECK(t.gradients == Precision::bf16);
}

TEST_CASE("accelerate's bf16 is autocast, and its FSDP's shards are fp32") {
  const std::string file = "mixed_precision: bf16\nnum_machines: 1\nnum_processes: 8\n";
  const auto training = [&](const std::string& kind) {
    return import_of("a.yaml", "distributed_type: " + kind + "\n" + file).scenario.training;
  };
  CHECK(training("MULTI_GPU").autocast);
  CHECK_FALSE(training("FSDP").autocast);
  CHECK(training("FSDP").parameters == Precision::fp32);
}

TEST_CASE("axolotl loads models in bf16, which FSDP alone widens") {
  const Training alone = import_of("run.yaml", kAxolotl).scenario.training;
  CHECK_FALSE(alone.master_weights);
  CHECK_FALSE(alone.autocast);
  const Training sharded =
      import_of("run.yaml", kAxolotl + "fsdp_version: 2\nfsdp_config:\n  offload_params: false\n")
          .scenario.training;
  CHECK(sharded.parameters == Precision::fp32);
}

TEST_CASE("torchtitan's FSDP casts shards, and replicas run under autocast") {
  const std::string file =
      "[model]\nname = \"llama3\"\nflavor = \"8B\"\n[training]\nlocal_batch_size = 1\n"
      "seq_len = 4096\n[parallelism]\n";
  const Training sharded =
      import_of("run.toml", file + "data_parallel_shard_degree = 8\n").scenario.training;
  CHECK(sharded.parameters == Precision::fp32);
  CHECK(sharded.gradients == Precision::fp32);
  CHECK_FALSE(sharded.autocast);
  const Training replicas =
      import_of("run.toml",
                file + "data_parallel_replicate_degree = 8\ndata_parallel_shard_degree = 1\n")
          .scenario.training;
  CHECK(replicas.autocast);
}

TEST_CASE("DeepSpeed's torch_autocast keeps parameters in fp32") {
  const auto imported = [](int stage, const std::string& more = "") {
    return import_of("ds.json",
                     "{" + more +
                         "\"train_micro_batch_size_per_gpu\": 1, "
                         "\"gradient_accumulation_steps\": 1, "
                         "\"torch_autocast\": {\"enabled\": true, \"dtype\": \"bfloat16\"}, "
                         "\"zero_optimization\": {\"stage\": " +
                         std::to_string(stage) + "}}");
  };
  const ImportResult two = imported(2);
  CHECK(two.scenario.training.precision == Precision::bf16);
  CHECK(two.scenario.training.autocast);
  CHECK(two.says("gradients are reduced in fp32"));
  CHECK(imported(2, "\"communication_data_type\": \"bf16\", ").scenario.training.gradients ==
        Precision::fp32);
  const Training three = imported(3).scenario.training;
  CHECK(three.parameters == Precision::fp32);
  CHECK_FALSE(three.autocast);
}

TEST_CASE("DeepSpeed's torch_autocast finds parameters cast already beside bf16.enabled") {
  const ImportResult both =
      import_of("ds.json",
                "{\"train_micro_batch_size_per_gpu\": 1, \"gradient_accumulation_steps\": 1, "
                "\"torch_autocast\": {\"enabled\": true, \"dtype\": \"bfloat16\"}, "
                "\"bf16\": {\"enabled\": true}, \"zero_optimization\": {\"stage\": 2}}");
  CHECK(both.scenario.training.precision == Precision::bf16);
  CHECK_FALSE(both.scenario.training.autocast);
  CHECK(both.says("torch_autocast: parameters are bf16 beside bf16.enabled"));
}

TEST_CASE("Liger's switch brings its kernels and its loss") {
  const Training t =
      import_of("args.yaml", kArguments + "use_liger_kernel: true\n").scenario.training;
  CHECK(t.fusion == "liger");
  CHECK(t.cross_entropy == CrossEntropy::liger_fused_linear);
  const Training some = import_of("run.yaml", kAxolotl + "liger_fused_linear_cross_entropy: true\n")
                            .scenario.training;
  CHECK(some.fusion == "none");
  CHECK(some.cross_entropy == CrossEntropy::liger_fused_linear);
  const std::string modules =
      "liger_rope: true\nliger_rms_norm: true\nliger_glu_activation: true\n";
  CHECK(import_of("run.yaml", kAxolotl + modules).scenario.training.fusion == "liger");
  CHECK(import_of("run.yaml", kAxolotl + "liger_rope: true\n").says("liger_rope"));
  CHECK(import_of("run.yaml", kAxolotl + "cut_cross_entropy: true\n")
            .scenario.training.cross_entropy == CrossEntropy::cut_cross_entropy);
}
