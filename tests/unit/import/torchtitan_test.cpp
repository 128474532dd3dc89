// torchtitan's TOML files: newer and older spellings of keys, splits, pipelines, and mistakes.
#include "sim/import/torchtitan/torchtitan_pipeline.hpp"
#include "tests/unit/import/import_of.hpp"

using namespace stepsim;

namespace {

std::string file(const std::string& name, const std::string& flavor, const std::string& rest) {
  return "[job]\ndescription = \"a run\"\n[model]\nname = \"" + name + "\"\nflavor = \"" + flavor +
         "\"\n" + rest;
}

const std::string kTraining = "[training]\nlocal_batch_size = 2\nseq_len = 4096\n";

}  // namespace

TEST_CASE("a torchtitan file is recognised, and its values arrive") {
  const ImportResult r = import_of("run.toml", file("deepseek_v3", "16B", R"([optimizer]
name = "AdamW"
implementation = "fused"
[training]
local_batch_size = 6
seq_len = 8192
max_norm = 1.0
dtype = "bfloat16"
mixed_precision_reduce = "bfloat16"
[parallelism]
data_parallel_replicate_degree = 1
data_parallel_shard_degree = 16
tensor_parallel_degree = 1
[activation_checkpoint]
mode = "selective"
selective_ac_option = "op"
[compile]
enable = true
components = ["model", "loss"]
)"));
  const Scenario& s = r.scenario;
  CHECK(s.framework == Framework::pytorch_fsdp2);
  CHECK(s.model.name == "deepseek-v2-lite");
  CHECK(s.cluster.gpus() == 16);
  CHECK(s.training.sequence_length == 8192);
  CHECK(s.training.micro_batch == 6);
  CHECK(s.training.global_batch == 6 * 16);
  CHECK(s.training.precision == Precision::bf16);
  CHECK(s.training.gradients == Precision::bf16);
  CHECK_FALSE(s.training.master_weights);
  CHECK(s.training.gradient_clipping);
  CHECK(s.training.fusion == "compiled");
  CHECK(s.training.recompute.kind == Recompute::selective);
  CHECK(s.training.recompute.modules.size() == 3);
  CHECK(s.parallelism.data.sharding == sharding_named("zero3"));
  CHECK(r.says("assumed: nodes 2 of 8 GPUs: 16 GPUs: the product of all degrees"));
  CHECK(r.says("recompute of every second matrix product: "));
}

TEST_CASE("what a torchtitan file leaves out is torchtitan's default") {
  const ImportResult r = import_of("run.toml", file("llama3", "8B", "[training]\nsteps = 10\n"));
  const Scenario& s = r.scenario;
  CHECK(s.training.sequence_length == 2048);
  CHECK(s.training.micro_batch == 8);
  CHECK(s.training.global_batch == 8 * 8);
  CHECK(s.training.gradients == Precision::fp32);
  CHECK(s.training.fusion == "none");
  CHECK(s.training.gradient_clipping);
  CHECK(r.says("assumed: nodes 1 of 8 GPUs: not stated"));
}

TEST_CASE("spellings of 2024 say the same") {
  const Scenario s = import_of("old.toml", file("llama3", "8B", R"([training]
batch_size = 1
seq_len = 8192
tensor_parallel_degree = 2
data_parallel_shard_degree = -1
compile = true
[experimental]
context_parallel_degree = 2
pipeline_parallel_degree = 1
[float8]
enable_float8_linear = true
[activation_checkpoint]
mode = 'full'
)"))
                         .scenario;
  CHECK(s.training.micro_batch == 1);
  CHECK(s.parallelism.tensor == 2);
  CHECK(s.parallelism.sequence);
  CHECK(s.parallelism.context.degree == 2);
  CHECK(s.training.global_batch == 2);
  CHECK(s.training.precision == Precision::fp8);
  CHECK(s.training.fp8_scaling == Fp8Scaling::current);
  CHECK(s.training.fusion == "compiled");
  CHECK(s.training.recompute.kind == Recompute::full);
}

// early_stop of pytorch/torchtitan torchtitan/config/job_config.py (v0.2.0) is false unless stated.
TEST_CASE("a repeated pass of torchtitan's ends early where the file says so") {
  const auto ends_early = [](const std::string& keys) {
    return import_of("run.toml",
                     file("llama3", "8B", kTraining + "[activation_checkpoint]\n" + keys))
        .scenario.training.recompute.early_stop;
  };
  CHECK_FALSE(ends_early("mode = \"full\"\n"));
  CHECK(ends_early("mode = \"full\"\nearly_stop = true\n"));
  CHECK(ends_early("mode = \"selective\"\nselective_ac_option = \"1\"\nearly_stop = true\n"));
}

TEST_CASE("torchtitan's loss goes through the tokens in chunks where no tensor ranks split them") {
  const auto imported = [](const std::string& rest, const std::string& chunks = "8") {
    return import_of("run.toml", file("llama3", "8B",
                                      kTraining + "[loss]\nnum_chunks = " + chunks + "\n" + rest));
  };
  CHECK(imported("").scenario.training.loss_chunks == 8);
  const ImportResult split = imported("[parallelism]\ntensor_parallel_degree = 2\n");
  CHECK(split.scenario.training.loss_chunks == 1);
  CHECK(split.says("loss.num_chunks 8"));
  // 4,096 tokens have no seventh.
  const ImportResult odd = imported("", "7");
  CHECK(odd.scenario.training.loss_chunks == 4);
  CHECK(odd.says("loss.num_chunks 7"));
}

TEST_CASE("replicas of shards, and replicas alone") {
  const auto of = [](const std::string& degrees) {
    return import_of("run.toml", file("llama3", "8B", kTraining + "[parallelism]\n" + degrees))
        .scenario;
  };
  const Scenario hybrid =
      of("data_parallel_replicate_degree = 4\ndata_parallel_shard_degree = 8\n");
  CHECK(hybrid.cluster.gpus() == 32);
  CHECK(hybrid.parallelism.data.shard_degree == 8);
  CHECK(hybrid.training.global_batch == 2 * 32);
  const Scenario alone = of("data_parallel_replicate_degree = 8\ndata_parallel_shard_degree = 1\n");
  CHECK(alone.framework == Framework::pytorch_ddp);
  CHECK(alone.parallelism.data.sharding == sharding_named("ddp"));
}

TEST_CASE("layers are dealt out to virtual stages as torchtitan does it") {
  CHECK(torchtitan_layers(126, 8, 1, 1) ==
        std::vector<std::int64_t>{15, 16, 16, 16, 16, 16, 16, 15});
  CHECK(torchtitan_layers(32, 4, 1, 1) == std::vector<std::int64_t>{8, 9, 8, 7});
  CHECK(torchtitan_layers(32, 4, 0, 0) == std::vector<std::int64_t>{8, 8, 8, 8});
  CHECK(torchtitan_layers(2, 4, 1, 1).empty());
}

TEST_CASE("a pipeline arrives with its micro-batches") {
  const ImportResult r = import_of("run.toml", file("llama3", "8B", R"([training]
local_batch_size = 8
seq_len = 4096
[parallelism]
pipeline_parallel_degree = 2
pipeline_parallel_schedule = "Interleaved1F1B"
pipeline_parallel_microbatch_size = 2
)"));
  const Scenario& s = r.scenario;
  CHECK(s.parallelism.pipeline.stages == 2);
  CHECK(s.parallelism.pipeline.schedule == "interleaved-pytorch");
  CHECK(s.parallelism.pipeline.chunks == 2);
  CHECK(s.training.micro_batch == 2);
  CHECK(s.training.global_batch == 8 * 4);
  CHECK(s.parallelism.data.sharding == sharding_named("zero3"));
  CHECK(s.parallelism.data.keeps_gathered());
  CHECK(!r.says("FSDP beside pipeline stages: "));
}

TEST_CASE("what torchtitan has and a scenario has not is a note") {
  const ImportResult r = import_of("run.toml", file("llama3", "8B", kTraining + R"([optimizer]
name = "Muon"
early_step_in_backward = true
[parallelism]
tensor_parallel_degree = 2
enable_async_tensor_parallel = true
tensor_paralel_degree = 4
[activation_checkpoint]
selective_ac_option = "2"
)"));
  for (const char* said :
       {"optimizer.name Muon: AdamW", "optimizer.early_step_in_backward: the update runs behind",
        "parallelism.enable_async_tensor_parallel: ", "activation_checkpoint.selective_ac_option 2",
        "parallelism.tensor_paralel_degree: not known here, did you mean "
        "'tensor_parallel_degree'?"}) {
    CAPTURE(said);
    CHECK(r.says(said));
  }
}

TEST_CASE("mistakes in a torchtitan file have their place") {
  CHECK(refusal_of("run.toml", file("llama3", "8B", "[training]\nseq_len = \"long\"\n")) ==
        "run.toml:7:11: training.seq_len: \"long\" is not a number\n"
        "  seq_len = \"long\"\n"
        "            ^");
  CHECK(refusal_of("run.toml", file("llama3", "9B", kTraining))
            .starts_with("run.toml:5:10: the sizes of llama3 9B are not known here: name the model "
                         "with --model NAME, did you mean"));
  CHECK(refusal_of("run.toml", file("lama3", "8B", kTraining)).find("did you mean 'llama3'?") !=
        std::string::npos);
  CHECK(refusal_of("run.toml", file("llama3", "8B", "[training\nseq_len = 1\n"),
                   {.from = "torchtitan"})
            .starts_with("run.toml:6:10: this is no TOML: "));
  CHECK(refusal_of("run.toml", file("llama3", "8B",
                                    kTraining + "[parallelism]\npipeline_parallel_degree = 2\n"
                                                "pipeline_parallel_schedule = \"1F1\"\n"))
            .find("did you mean '1F1B'?") != std::string::npos);
}

TEST_CASE("a model of torchtitan's that is not known here is named by an option") {
  CHECK(import_of("run.toml", file("llama3", "9B", kTraining), {.model = "llama3-8b"})
            .scenario.model.name == "llama3-8b");
  const Scenario scout = import_of("run.toml", file("llama4", "17bx16e", kTraining)).scenario;
  CHECK(std::get<Transformer>(scout.model.shape).experts->count == 16);
}
