// An import of what was exported is the same scenario: strategies drawn at random, by framework.
#include <random>
#include <sstream>

#include "tests/unit/export/exported.hpp"

using namespace stepsim;

namespace {

using Settings = std::vector<std::string>;

/// Draws one of each list; a draw that no scenario can be is drawn again.
class Draws {
 public:
  Draws(std::string framework, std::vector<Settings> choices)
      : framework_(std::move(framework)), choices_(std::move(choices)) {}

  /// Settings of a draw, for messages.
  std::string text;

  Scenario next(const std::vector<std::string>& models) {
    for (;;) {
      const std::string& model = models[random_() % models.size()];
      const Settings settings = draw();
      text = model;
      for (const std::string& setting : settings) text += " " + setting;
      try {
        return scenario_of(framework_, model, settings);
      } catch (const UserError&) {
        ++refused_;
        INFO(text);
        REQUIRE(refused_ < 2000);
      }
    }
  }

 private:
  /// One of each list; a choice may be several settings.
  Settings draw() {
    Settings settings;
    for (const Settings& choice : choices_) {
      std::istringstream one(choice[random_() % choice.size()]);
      for (std::string setting; std::getline(one, setting, ';');) settings.push_back(setting);
    }
    return settings;
  }

  std::mt19937 random_{20261125};  // NOLINT(cert-msc51-cpp): the draws of every run are alike
  std::string framework_;
  std::vector<Settings> choices_;
  int refused_ = 0;
};

/// What torchtitan's models are like.
const std::string kTitan =
    "training.attention=flash2;training.fused_qkv=false;training.vocabulary_multiple=1";

const Settings kRecompute{"training.recompute=none", "training.recompute=full"};

}  // namespace

TEST_CASE("Megatron-LM's options bring back the plan") {
  Draws draws(
      "megatron",
      {{"parallelism.tensor=1", "parallelism.tensor=2",
        "parallelism.tensor=4;"
        "parallelism.sequence=true"},
       {"parallelism.pipeline.stages=1", "parallelism.pipeline.stages=4",
        "parallelism.pipeline={stages: 2, chunks: 2, schedule: interleaved}",
        "parallelism.pipeline={stages: 4, layers: [7, 9, 9, 7]}",
        "parallelism.pipeline={stages: 4, layers: [9, 7, 9, 7]}",
        "parallelism.pipeline={stages: 4, chunks: 2, schedule: interleaved, overlap_p2p: false}"},
       {"parallelism.context.degree=1", "parallelism.context={degree: 2, kind: all_gather}",
        "parallelism.context={degree: 2, kind: all_to_all}"},
       {"parallelism.data.sharding=ddp", "parallelism.data={sharding: zero1, overlap: true}",
        "parallelism.data={sharding: zero1, overlap: true, overlap_param_gather: true}",
        "parallelism.data={sharding: zero1, offload_optimizer: true, bucket: 1 GB}",
        "parallelism.data={sharding: zero2, averaging: collective}",
        "parallelism.data={sharding: zero2, reduce_dtype: fp16};training.gradients=fp32",
        "parallelism.data={sharding: zero3, overlap: true, check_for_nan_in_grad: false}"},
       {"training.precision=bf16", "training.precision=bf16;training.gradients=bf16",
        // Without a fixed scale of the loss Megatron-LM does not look at gradients in fp16.
        "training.precision=fp16;parallelism.data.check_for_nan_in_grad=false",
        "training.precision=fp16;training.gradients=fp32;"
        "parallelism.data.check_for_nan_in_grad=false",
        "training.precision=fp32", "training.precision=fp8;training.fp8_scaling=current",
        "training.precision=fp8;training.fp8_scaling=mxfp8;training.fp8_parameters=true",
        "training.precision=nvfp4", "training.precision=nvfp4;training.fp8_parameters=true"},
       {"training.recompute=none", "training.recompute=selective",
        "training.recompute={kind: full, method: block, layers: 2}",
        "training.recompute={kind: selective, modules: [layernorm, core_attention]}"},
       {"training.optimizer=adam", "training.optimizer=sgd", "training.optimizer=momentum"},
       {"training.attention=flash3", "training.attention=cudnn", "training.attention=unfused"},
       {"training.transformer_impl=local", "training.transformer_impl=transformer_engine"},
       {"training.vocabulary_multiple=128", "training.vocabulary_multiple=64"},
       {"training.fused_accumulation=true", "training.fused_accumulation=false"},
       {"training.gradient_clipping=true", "training.gradient_clipping=false"},
       {"training.bias_dropout_fusion=true", "training.bias_dropout_fusion=false"}});
  int compared = 0;
  for (int i = 0; i < 120; ++i) {
    const Scenario scenario = draws.next({"llama3-8b", "mixtral-8x7b", "qwen3-8b",
                                          "{base: gpt3-175b, layers: 32, positions: 4096}"});
    if (scenario.parallelism.pipeline.stages > 1 &&
        scenario.parallelism.data.sharding.shards_gradients)
      continue;  // refused, as the table of abilities has it
    const Training& training = scenario.training;
    if (scenario.parallelism.data.offload_optimizer &&
        (training.optimizer != "adam" || training.fp8_parameters))
      continue;  // refused, as Megatron-LM's own checks have it
    INFO(draws.text);
    CHECK(lost(exported("megatron", scenario)) == "");
    ++compared;
  }
  CHECK(compared > 60);
}

// validate_args of NVIDIA/Megatron-LM megatron/training/arguments.py.
TEST_CASE("a look at fp16's gradients is named among what Megatron-LM's options do not say") {
  CHECK(lost(exported("megatron",
                      scenario_of("megatron", "llama3-8b", {"training.precision=fp16"}))) ==
        "parallelism.data.check_for_nan_in_grad: true (false there)\n");
}

TEST_CASE("torchtitan's keys bring back the plan") {
  Draws draws(
      "pytorch-fsdp2",
      {{"parallelism.tensor=1",
        "parallelism.tensor=2;parallelism.sequence=true;parallelism.dtensor=true"},
       {"parallelism.context.degree=1", "parallelism.context={degree: 2, kind: ring}",
        "parallelism.context={degree: 2, kind: all_gather}"},
       {"parallelism.data.reshard_after_forward=layers",
        "parallelism.data.reshard_after_forward=none", "parallelism.data.reshard_after_forward=all",
        "parallelism.data.shard_degree=4", "parallelism.data.offload_optimizer=true"},
       {"training.precision=bf16;training.gradients=fp32;training.parameters=fp32",
        "training.precision=tf32;training.gradients=fp32",
        "training.precision=fp8;training.fp8_scaling=current;training.gradients=fp32;"
        "training.parameters=fp32",
        "training.precision=fp8;training.fp8_scaling=current;training.gradients=fp32;"
        "training.parameters=fp32;training.fp8_parameters=true"},
       {"training.recompute=none", "training.recompute={kind: full, early_stop: true}",
        "training.recompute={kind: selective, modules: [every_second_matmul]}"},
       {"training.fusion=none", "training.fusion=compiled"},
       {"training.micro_batch=1", "training.micro_batch=2"},
       {"training.optimizer_kernels=fused", "training.optimizer_kernels=foreach"},
       {kTitan},
       {"training.gradient_clipping=true", "training.gradient_clipping=false"}});
  for (int i = 0; i < 60; ++i) {
    Scenario scenario = draws.next({"llama3-8b", "qwen3-8b"});
    // Which library computes the loss follows from the split.
    scenario.training.cross_entropy =
        scenario.parallelism.tensor > 1 ? CrossEntropy::megatron : CrossEntropy::torch;
    INFO(draws.text);
    CHECK(lost(exported("torchtitan", scenario)) == "");
  }
}

// early_stop of pytorch/torchtitan torchtitan/config/job_config.py, since v0.2.0.
TEST_CASE("where torchtitan's recompute ends comes back") {
  for (const char* early_stop : {"true", "false"}) {
    INFO(early_stop);
    const Scenario scenario = scenario_of(
        "pytorch-fsdp2", "llama3-8b",
        {"training.gradients=fp32", "training.parameters=fp32", "training.attention=flash2",
         "training.fused_qkv=false", "training.vocabulary_multiple=1",
         "training.cross_entropy=torch", "training.fusion=none",
         std::string("training.recompute={kind: full, early_stop: ") + early_stop + "}"});
    CHECK(lost(exported("torchtitan", scenario)) == "");
  }
}

TEST_CASE("torchtitan's pipelines come back with their layers") {
  for (const char* pipeline :
       {"{stages: 4, schedule: 1f1b}", "{stages: 4, schedule: gpipe, layers: [7, 9, 9, 7]}",
        "{stages: 2, chunks: 2, schedule: interleaved-pytorch}",
        "{stages: 2, chunks: 4, schedule: interleaved-pytorch}",
        "{stages: 2, chunks: 2, schedule: zb-v, layers: [8, 9, 8, 7]}"}) {
    INFO(pipeline);
    Scenario scenario = scenario_of(
        "pytorch-fsdp2", "llama3-8b",
        {std::string("parallelism.pipeline=") + pipeline, "training.gradients=fp32",
         "parallelism.data={sharding: zero3, no_sync: true, reshard_after_forward: "
         "none, reshard_after_backward: false}",
         "training.parameters=fp32", "training.attention=flash2", "training.fused_qkv=false",
         "training.fusion=none", "training.vocabulary_multiple=1", "training.cross_entropy=torch",
         "training.micro_batch=2"});
    CHECK(lost(exported("torchtitan", scenario)) == "");
  }
}

TEST_CASE("DeepSpeed's keys bring back the plan") {
  Draws draws("deepspeed",
              {{"parallelism.tensor=1", "parallelism.tensor=4"},
               {"parallelism.data.sharding=ddp", "parallelism.data.sharding=zero1",
                "parallelism.data={sharding: zero2, overlap: true}",
                "parallelism.data={sharding: zero3, persistence_threshold: 5000}",
                "parallelism.data={sharding: zero3, shard_degree: 4}",
                "parallelism.data={sharding: zero1, offload_optimizer: true, bucket: 100 MB}",
                "parallelism.data={sharding: zero2, reduce_dtype: fp16};training.gradients=fp32"},
               {"training.precision=bf16", "training.precision=fp16", "training.precision=fp32",
                "training.precision=tf32", "training.precision=bf16;training.gradients=fp32"},
               {"training.optimizer=adam", "training.optimizer=sgd", "training.optimizer=momentum",
                "training.optimizer=lamb"},
               {"training.attention=flash3"},
               {"training.micro_batch=1", "training.micro_batch=2"},
               {"training.gradient_clipping=true", "training.gradient_clipping=false"}});
  for (int i = 0; i < 60; ++i) {
    const Scenario scenario =
        draws.next({"llama3-8b",
                    "{name: own, layers: 24, hidden: 2048, heads: 16, vocabulary: "
                    "32000, dropout: false}"});
    INFO(draws.text);
    CHECK(lost(exported("deepspeed", scenario)) == "");
  }
}

TEST_CASE("accelerate's keys bring back how ranks share the work") {
  const std::vector<std::pair<std::string, std::vector<Settings>>> kinds{
      {"pytorch-ddp", {{"parallelism.data.sharding=ddp"}}},
      {"pytorch-fsdp1",
       {{"parallelism.data.sharding=zero3", "parallelism.data.reshard_after_forward=none",
         "parallelism.data.shard_degree=8", "parallelism.data.forward_prefetch=true",
         "parallelism.data.backward_prefetch=post", "parallelism.data.offload_optimizer=true"},
        kRecompute}},
      {"pytorch-fsdp2",
       {{"parallelism.data.sharding=zero3", "parallelism.data.reshard_after_forward=none",
         "parallelism.data.shard_degree=4"},
        {"parallelism.tensor=1", "parallelism.tensor=2"},
        {"parallelism.context.degree=1", "parallelism.context={degree: 2, kind: all_gather}"},
        kRecompute}}};
  for (const auto& [framework, choices] : kinds) {
    std::vector<Settings> all = choices;
    // Products in 16 bits are autocast over fp32, or FSDP's mixed precision of fp32 shards.
    const std::string wide = framework == "pytorch-ddp"
                                 ? ";training.autocast=true;training.gradients=fp32"
                                 : ";training.parameters=fp32";
    all.push_back({"training.precision=bf16" + wide, "training.precision=fp16" + wide,
                   "training.precision=tf32", "training.precision=fp32"});
    all.push_back({"training.attention=flash2"});
    all.push_back({"training.micro_batch=2;training.global_batch=128",
                   "training.micro_batch=1;training.global_batch=64"});
    Draws draws(framework, all);
    for (int i = 0; i < 25; ++i) {
      Scenario scenario = draws.next({"llama3-8b"});
      // The Trainer reduces gradients behind the last of several passes.
      scenario.parallelism.data.no_sync = scenario.micro_batches() > 1;
      INFO(draws.text);
      CHECK(lost(exported("accelerate", scenario)) == "");
    }
  }
}
