// What the frameworks' own checks refuse is refused here, with the key.
#include "tests/unit/export/exported.hpp"

using namespace stepsim;

namespace {

struct Refused {
  std::string model;
  std::vector<std::string> settings;
  std::string begins;  ///< what the refusal begins with
};

void check_all(const std::string& to, const std::string& framework,
               const std::vector<Refused>& plans) {
  for (const Refused& plan : plans) {
    INFO(plan.begins);
    const std::string text = refusal(to, scenario_of(framework, plan.model, plan.settings));
    CHECK(text.substr(0, plan.begins.size()) == plan.begins);
  }
}

}  // namespace

TEST_CASE("plans that Megatron-LM's parser refuses") {
  check_all(
      "megatron", "megatron",
      {{"llama3-8b",
        {"parallelism.pipeline={stages: 2, chunks: 4, schedule: interleaved, overlap_p2p: false}"},
        "parallelism.pipeline.overlap_p2p: false: "},
       {"llama3-8b",
        {"training.optimizer=sgd", "parallelism.data={sharding: zero1, offload_optimizer: true}"},
        "parallelism.data.offload_optimizer: true: megatron offloads adam alone"},
       {"llama3-8b",
        {"training.precision=fp8", "training.fp8_scaling=delayed",
         "training.recompute={kind: selective, modules: [layernorm]}"},
        "training.recompute.modules: "},
       {"llama3-8b",
        {"training.precision=fp8", "training.fp8_scaling=current", "training.fp8_parameters=true",
         "parallelism.data={sharding: zero1, offload_optimizer: true}"},
        "parallelism.data.offload_optimizer: true: beside fp8_parameters"},
       {"llama3-8b", {"training.lora={rank: 16, target_modules: [linear_qkv]}"}, "training.lora: "},
       {"mixtral-8x7b",
        {"parallelism.expert={degree: 8, overlap: true}", "training.precision=fp32"},
        "parallelism.expert.overlap: true: megatron has it in bf16 and fp16 alone"},
       {"gpt-oss-120b",
        {"parallelism.tensor=2", "parallelism.sequence=true"},
        "parallelism.tensor: megatron splits no experts that have biases"}});
}

TEST_CASE("exchanges beside another pass are not repeated, whoever's defaults a plan has") {
  const Scenario scenario = parse_scenario(
      "model: mixtral-8x7b\ncluster: {base: dgx-h100, nodes: 4}\n"
      "training: {sequence_length: 4096, global_batch: 256, precision: bf16, recompute: {kind: "
      "selective, modules: [moe]}}\nparallelism: {expert: {degree: 8, overlap: true}}\n",
      "scenario.yaml", Library{{source_folder()}}, {}, known_names());
  CHECK(refusal("megatron", scenario)
            .find("parallelism.expert.overlap: true: not with recompute of the module moe") !=
        std::string::npos);
}

TEST_CASE("plans that torchtitan refuses") {
  check_all("torchtitan", "pytorch-ddp",
            {{"llama3-8b",
              {"parallelism.tensor=2", "parallelism.data.sharding=ddp"},
              "parallelism.data.sharding: ddp: torchtitan replicates"}});
  check_all("torchtitan", "pytorch-fsdp2",
            {{"llama2-7b", {}, "model llama2-7b: torchtitan has no model of that shape"},
             {"gpt-oss-120b",
              {"parallelism.context={degree: 2, kind: all_to_all}", "training.attention=cudnn"},
              "parallelism.context.kind: all_to_all: "},
             {"deepseek-v3",
              {"parallelism.tensor=2", "parallelism.sequence=true", "training.precision=fp8",
               "training.fp8_scaling=current"},
              "training.precision: fp8: "}});
}

TEST_CASE("what a program attends with is read back as it can be") {
  const Export result =
      exported("torchtitan", scenario_of("pytorch-fsdp2", "gpt-oss-20b",
                                         {"training.attention=eager", "training.fusion=none"}));
  CHECK(result.text.find("gpt_oss") != std::string::npos);
}

TEST_CASE("what torchtitan's float8 recipe does not gather goes without its name") {
  const auto text_of = [](const char* gathers) {
    return exported("torchtitan",
                    scenario_of("pytorch-fsdp2", "llama3-8b",
                                {"training.precision=fp8", "training.fp8_scaling=current",
                                 std::string("training.fp8_parameters=") + gathers,
                                 "training.attention=flash2"}))
        .text;
  };
  CHECK(text_of("true").find("recipe_name") == std::string::npos);
  CHECK(text_of("true").find("enable_fsdp_float8_all_gather = true") != std::string::npos);
  CHECK(text_of("false").find("recipe_name = \"tensorwise\"") != std::string::npos);
}

TEST_CASE("stages that differ anyhow are a layout of Megatron-LM's") {
  for (const char* pipeline :
       {"{stages: 4, layers: [9, 7, 9, 7]}",
        "{stages: 2, chunks: 2, schedule: interleaved, layers: [7, 8, 9, 8]}"}) {
    INFO(pipeline);
    const Export result = exported(
        "megatron", scenario_of("megatron", "llama3-8b",
                                {std::string("parallelism.pipeline=") + pipeline,
                                 "training.attention=flash3", "training.vocabulary_multiple=128"}));
    CHECK(result.text.find("--pipeline-model-parallel-layout") != std::string::npos);
    CHECK(lost(result) == "");
  }
}

TEST_CASE("cuDNN's attention is Megatron-LM's backend fused") {
  const Export result = exported(
      "megatron", scenario_of("megatron", "llama3-8b",
                              {"training.attention=cudnn", "training.vocabulary_multiple=128"}));
  CHECK(result.text.find("--attention-backend fused") != std::string::npos);
  CHECK(lost(result) == "");
}

TEST_CASE("gates, sinks and windows have options of Megatron-LM's") {
  const Export result = exported(
      "megatron",
      scenario_of("megatron", "gpt-oss-20b",
                  {"model.attention_gate=true", "model.window={tokens: 128, full_every: 2}",
                   "training.attention=cudnn", "training.vocabulary_multiple=128"}));
  for (const char* option :
       {"--quick-geglu", "--activation-func-clamp-value 7", "--position-embedding-type yarn",
        "--rotary-scaling-factor 32", "--attention-output-gate", "--softmax-type learnable",
        "--window-size 127,0", "--window-attn-skip-freq 2"})
    CHECK(result.text.find(option) != std::string::npos);
}

TEST_CASE("images among words and diffusion are what no file can say") {
  check_all("megatron", "megatron",
            {{"qwen2.5-vl-7b",
              {"training.images={per_sequence: 1, height: 448, width: 448}"},
              "model qwen2.5-vl-7b: no file of these says which images its tower reads"},
             {"dit-xl-2",
              {"training.sequence_length=256"},
              "model dit-xl-2: pretrain_gpt.py trains no diffusion models"}});
  check_all("deepspeed", "deepspeed",
            {{"qwen2.5-vl-7b",
              {"training.images={per_sequence: 1, height: 448, width: 448}"},
              "model qwen2.5-vl-7b: no file of these says which images its tower reads"}});
}
