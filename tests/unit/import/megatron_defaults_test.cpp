// What Megatron-LM's parser makes of options that a command line leaves out, or that stand for
// others.
#include <optional>
#include <sstream>
#include <utility>

#include "sim/core/error.hpp"
#include "tests/unit/import/imported.hpp"

using namespace stepsim;

namespace {

Imported of(const std::string& line, std::optional<std::string> cluster = {}) {
  ImportOptions options{.from = "megatron"};
  options.cluster = std::move(cluster);
  std::istringstream words(kGpt + line);
  for (std::string word; words >> word;) options.arguments.push_back(word);
  return imported(options);
}

Scenario of_megatron(const std::string& line) { return of(line).scenario; }

}  // namespace

// --data-parallel-sharding-strategy of NVIDIA/Megatron-LM megatron/training/arguments.py is
// optim_grads_params since core_v0.18.0, and no_shard before; no_shard replicates all
// (megatron/core/distributed/fsdp/src/README.md).
TEST_CASE("Megatron-FSDP shards all unless it is told otherwise") {
  const auto sharding = [](const std::string& line) {
    return of_megatron(line).parallelism.data.sharding;
  };
  CHECK(sharding("--use-megatron-fsdp") == sharding_named("zero3"));
  CHECK(sharding("--use-megatron-fsdp --data-parallel-sharding-strategy optim") ==
        sharding_named("zero1"));
  CHECK(sharding("--use-megatron-fsdp --data-parallel-sharding-strategy no_shard") ==
        sharding_named("ddp"));
  CHECK(sharding("--use-custom-fsdp --use-distributed-optimizer") == sharding_named("ddp"));
  const std::string why = "since core_v0.18.0, no_shard before";
  CHECK(of("--use-megatron-fsdp").assumed.find(why) != std::string::npos);
  CHECK(of("--use-megatron-fsdp --data-parallel-sharding-strategy optim").assumed.find(why) ==
        std::string::npos);
}

// validate_args of NVIDIA/Megatron-LM megatron/training/arguments.py: a dynamic scale of the loss
// turns the check off.
TEST_CASE("gradients of fp16 are looked at where the loss has a fixed scale") {
  const auto looks = [](const std::string& line) {
    return of_megatron(line).parallelism.data.check_for_nan_in_grad;
  };
  CHECK_FALSE(looks("--fp16"));
  CHECK_FALSE(looks("--fp16 --loss-scale 0 --initial-loss-scale 4096"));
  CHECK(looks("--fp16 --loss-scale 1024"));
  CHECK(looks("--bf16"));
}

// position_embedding_type of NVIDIA/Megatron-LM megatron/training/arguments.py; rope_type of
// megatron/core/transformer/transformer_config.py; YaRN's factor is that of core_v0.19.0
// megatron/training/argument_utils.py.
TEST_CASE("rotary positions have fused kernels where they are plain ones") {
  const auto fusion = [](const std::string& line) {
    return of_megatron(line).training.rope_fusion;
  };
  CHECK(fusion(""));
  CHECK(fusion("--no-rope-fusion"));  // learned positions
  CHECK(fusion("--position-embedding-type rope"));
  CHECK_FALSE(fusion("--position-embedding-type rope --no-rope-fusion"));
  for (const char* other : {"yarn", "mrope"})
    CHECK_FALSE(fusion(std::string("--position-embedding-type ") + other));
  const std::string latent =
      "--multi-latent-attention --qk-layernorm --position-embedding-type rope ";
  CHECK(fusion(latent));
  CHECK_FALSE(fusion(latent + "--rope-type rope"));
  CHECK_FALSE(fusion(latent + "--no-rope-fusion"));
  CHECK_FALSE(fusion("--multi-latent-attention --qk-layernorm"));
}

TEST_CASE("YaRN's factor and the clamp of experts are the model's") {
  const auto shape = [](const std::string& line) {
    return std::get<Transformer>(of_megatron(line).model.shape);
  };
  CHECK(shape("--position-embedding-type yarn --rotary-scaling-factor 32").yarn_factor == 32);
  CHECK(shape("--position-embedding-type yarn").yarn_factor == 1);
  CHECK(shape("--rotary-scaling-factor 32").yarn_factor == 1);
  const std::string experts = "--num-experts 8 --moe-router-topk 2 --moe-grouped-gemm ",
                    clamp = "--activation-func-clamp-value 7 ";
  CHECK(shape(experts + clamp + "--quick-geglu").experts->clamp == 7);
  CHECK(shape(experts + "--quick-geglu").experts->clamp == 0);
  CHECK(shape(experts + clamp + "--swiglu").experts->clamp == 0);
  CHECK(of(experts + clamp + "--swiglu").notes.find("without --quick-geglu") != std::string::npos);
  CHECK(of(clamp + "--quick-geglu").notes.find("only clamps of experts") != std::string::npos);
}

// seq_length of validate_args, NVIDIA/Megatron-LM megatron/training/arguments.py.
TEST_CASE("--encoder-seq-length stands for --seq-length") {
  ImportOptions options{.from = "megatron"};
  std::istringstream words(kGpt);
  for (std::string word; words >> word;)
    options.arguments.push_back(word == "--seq-length" ? "--encoder-seq-length" : word);
  const Imported found = imported(options);
  CHECK(found.scenario.training.sequence_length == 2048);
  CHECK(found.notes.empty());
}

// use_sharp of NVIDIA/Megatron-LM megatron/training/config/common_config.py.
TEST_CASE("switches that reduce are named, for the cluster says whether they do") {
  CHECK(of("--use-sharp").notes ==
        "not simulated as stated: --use-sharp: reductions are those of the cluster's "
        "inter_node.sharp\n");
}

// --optimizer muon of NVIDIA/Megatron-LM megatron/training/arguments.py: Nesterov's momentum is
// off, and dist_muon is its old name with a distributed optimizer.
TEST_CASE("Muon has Megatron-LM's presets, and owners of whole matrices where it is distributed") {
  const Scenario plain = of_megatron("--bf16 --optimizer muon");
  CHECK(plain.training.optimizer == "muon");
  CHECK(plain.training.muon_keys() == Muon{.nesterov = false});
  CHECK(plain.parallelism.data.sharding == sharding_named("ddp"));
  CHECK(of_megatron("--bf16 --optimizer dist_muon").parallelism.data.sharding ==
        sharding_named("zero1"));
  const Scenario all = of_megatron(
      "--bf16 --optimizer muon --use-distributed-optimizer --muon-nesterov --muon-num-ns-steps 6 "
      "--muon-no-split-qkv --muon-use-syrk --muon-tp-mode distributed "
      "--tensor-model-parallel-size 2");
  CHECK(all.training.muon_keys() == Muon{.steps = 6,
                                         .split_qkv = false,
                                         .symmetric = true,
                                         .tensor_mode = MuonTensorMode::distributed});
  CHECK(all.parallelism.data.sharding == sharding_named("zero1"));
}

TEST_CASE("layers at both ends stay in bf16 beside quantised ones, one each unless it is said") {
  const auto kept = [](const std::string& options) {
    return of_megatron("--bf16 " + options).training.bf16_layers;
  };
  const std::string fp8 = "--fp8-format hybrid --fp8-recipe tensorwise ";
  CHECK(!kept(fp8));
  CHECK(kept(fp8 + "--first-last-layers-bf16") == Bf16Layers{1, 1});
  CHECK(kept(fp8 + "--first-last-layers-bf16 --num-layers-at-start-in-bf16 0 "
                   "--num-layers-at-end-in-bf16 2") == Bf16Layers{0, 2});
  CHECK(!kept("--first-last-layers-bf16"));
  CHECK(of("--bf16 --first-last-layers-bf16").notes.find("no layer is quantised") !=
        std::string::npos);
}

// Its bases are new in each step (NVIDIA-NeMo/Emerging-Optimizers
// emerging_optimizers/legacy_soap/soap.py), with soap_use_kl_shampoo of
// megatron/core/optimizer/optimizer_config.py.
TEST_CASE("SOAP has no options, and renews all bases in each step") {
  const Imported soap = of("--bf16 --optimizer soap --use-distributed-optimizer");
  const Training& training = soap.scenario.training;
  CHECK(training.optimizer == "soap");
  CHECK(training.preconditioner_keys() ==
        Preconditioner{.every = 1, .largest_side = 0, .kl_statistics = true});
  CHECK(soap.scenario.parallelism.data.sharding == sharding_named("zero1"));
  CHECK(soap.notes.find("products of new bases are tf32") != std::string::npos);
}

TEST_CASE("a way to update split matrices is noted where no rank has a part of one") {
  const Imported one = of("--bf16 --optimizer muon --muon-tp-mode blockwise");
  CHECK(one.scenario.training.muon_keys().tensor_mode == MuonTensorMode::duplicated);
  CHECK(one.notes.find("--muon-tp-mode blockwise") != std::string::npos);
}

// --fp4-format of NVIDIA/Megatron-LM megatron/core/transformer/transformer_config.py, whose recipe
// is nvfp4 unless it is said otherwise.
TEST_CASE("fp4 is NVFP4, with parameters that are gathered in it where that is said") {
  const Training plain = of("--bf16 --fp4-format e2m1", "dgx-b200").scenario.training;
  CHECK(plain.precision == Precision::nvfp4);
  CHECK_FALSE(plain.fp8_parameters);
  CHECK(of("--bf16 --fp4-format e2m1 --fp4-recipe nvfp4 --fp4-param-gather "
           "--use-distributed-optimizer",
           "dgx-b200")
            .scenario.training.fp8_parameters);
  CHECK(of("--bf16 --fp4-format e2m1 --fp4-recipe custom", "dgx-b200")
            .notes.find("fp4-recipe custom") != std::string::npos);
  CHECK(of("--bf16 --fp8-format hybrid --fp8-recipe custom", "dgx-b200")
            .notes.find("fp8-recipe custom") != std::string::npos);
}
