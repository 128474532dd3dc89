// Configurations of NeMo and Megatron-Bridge: their fields are Megatron-LM's options.
#include "tests/unit/import/import_of.hpp"

using namespace stepsim;

namespace {

const std::string kNemo =
    "trainer:\n  devices: 8\n  num_nodes: 4\n  precision: bf16\n  gradient_clip_val: 1.0\n"
    "model:\n  mcore_gpt: True\n  micro_batch_size: 1\n  global_batch_size: 256\n"
    "  tensor_model_parallel_size: 4\n  pipeline_model_parallel_size: 2\n"
    "  virtual_pipeline_model_parallel_size: null\n  encoder_seq_length: 4096\n"
    "  max_position_embeddings: ${.encoder_seq_length}\n  num_layers: 32\n  hidden_size: 4096\n"
    "  ffn_hidden_size: 14336\n  num_attention_heads: 32\n  num_query_groups: 8\n"
    "  hidden_dropout: 0.0\n  attention_dropout: 0.0\n  normalization: rmsnorm\n  bias: False\n"
    "  activation: fast-swiglu\n  position_embedding_type: rope\n"
    "  share_embeddings_and_output_weights: False\n  sequence_parallel: True\n"
    "  activations_checkpoint_granularity: selective\n  vocab_size: 128256\n"
    "  tokenizer:\n    library: huggingface\n  optim:\n    name: distributed_fused_adam\n"
    "    overlap_grad_sync: True\n";

const std::string kBridge =
    "model:\n  tensor_model_parallel_size: 2\n  sequence_parallel: true\n"
    "  expert_model_parallel_size: 8\n  seq_length: 4096\n"
    "train:\n  global_batch_size: 512\n  micro_batch_size: 1\n"
    "mixed_precision:\n  bf16: true\n  grad_reduce_in_fp32: false\n"
    "ddp:\n  use_distributed_optimizer: true\n  overlap_grad_reduce: true\n";

}  // namespace

TEST_CASE("packed sequences of NeMo and Megatron-Bridge are whole documents") {
  const auto says = [](const std::string& dataset) {
    return import_of("megatron_gpt.yaml", kNemo + dataset)
        .says("assumed: documents one a sequence: packed sequences: tokens attend");
  };
  CHECK(says("dataset:\n  offline_packing_specs:\n    packed_sequence_size: 4096\n"));
  CHECK(says("dataset:\n  enable_in_batch_packing: true\n"));
  CHECK_FALSE(says("dataset:\n  offline_packing_specs:\n    packed_sequence_size: -1\n"));
}

TEST_CASE("a NeMo file is recognised, and its values arrive") {
  const ImportResult r = import_of("megatron_gpt.yaml", kNemo);
  const Scenario& s = r.scenario;
  const Transformer& model = std::get<Transformer>(s.model.shape);
  CHECK(s.framework == Framework::megatron);
  CHECK(model.layers == 32);
  CHECK(model.kv_heads == 8);
  CHECK(model.gated_mlp);
  CHECK(model.rms_norm);
  CHECK_FALSE(model.bias);
  CHECK_FALSE(model.tied_embeddings);
  CHECK(s.cluster.gpus() == 32);
  CHECK(s.training.sequence_length == 4096);
  CHECK(s.training.global_batch == 256);
  CHECK(s.training.precision == Precision::bf16);
  CHECK(s.training.recompute.kind == Recompute::selective);
  CHECK(s.parallelism.tensor == 4);
  CHECK(s.parallelism.sequence);
  CHECK(s.parallelism.pipeline.stages == 2);
  CHECK(s.parallelism.data.sharding == sharding_named("zero1"));
  CHECK(s.parallelism.data.overlap);
  CHECK_FALSE(r.says("not known here"));
}

TEST_CASE("a file that changes a recipe asks for the recipe's model") {
  CHECK(refusal_of("bridge.yaml", kBridge)
            .find("the model is a recipe's, which the file does not say: name it with --model "
                  "NAME") != std::string::npos);
  const ImportResult r = import_of("bridge.yaml", kBridge, {.model = "qwen3-30b-a3b", .nodes = 2});
  const Scenario& s = r.scenario;
  CHECK(s.model.name == "qwen3-30b-a3b");
  CHECK(s.parallelism.expert.degree == 8);
  CHECK(s.training.gradients == Precision::bf16);
  CHECK(s.training.global_batch == 512);
  CHECK(r.says("assumed: what the recipe sets Megatron Core's defaults: "));
}

TEST_CASE("NVFP4 is gathered where the file has a distributed optimizer") {
  const auto gathers = [](const std::string& rest) {
    const std::string file =
        "model:\n  tensor_model_parallel_size: 1\nmixed_precision: bf16_with_nvfp4_mixed\n" + rest;
    const Training t = import_of("bridge.yaml", file,
                                 {.model = "llama3-8b",
                                  .sequence_length = 8192,
                                  .cluster = "dgx-b200",
                                  .micro_batch = 1})
                           .scenario.training;
    CHECK(t.precision == Precision::nvfp4);
    return t.fp8_parameters;
  };
  CHECK_FALSE(gathers(""));
  CHECK(gathers("ddp:\n  use_distributed_optimizer: true\n"));
}

TEST_CASE("a recipe's name says how fp8 is scaled, and which layers stay in bf16") {
  const auto training = [](const std::string& recipe) {
    const std::string file =
        "model:\n  tensor_model_parallel_size: 1\n  seq_length: 4096\n"
        "train:\n  global_batch_size: 512\n  micro_batch_size: 1\n"
        "ddp:\n  use_distributed_optimizer: true\nmixed_precision: " +
        recipe + "\n";
    return import_of("bridge.yaml", file, {.model = "llama3-8b", .nodes = 2}).scenario.training;
  };
  const Training current = training("bf16_with_fp8_current_scaling_mixed");
  CHECK(current.precision == Precision::fp8);
  CHECK(current.fp8_scaling == Fp8Scaling::current);
  CHECK(current.fp8_parameters);
  CHECK(current.bf16_layers == Bf16Layers{1, 1});
  CHECK(training("nemotron_h_bf16_with_fp8_current_scaling_mixed").bf16_layers == Bf16Layers{2, 2});
  const Training blocks = training("bf16_with_fp8_subchannel_scaling_mixed");
  CHECK(blocks.fp8_scaling == Fp8Scaling::blockwise);
  CHECK(!blocks.fp8_parameters);
  CHECK(!blocks.bf16_layers);
  CHECK(training("bf16_with_fp8_delayed_scaling_mixed").fp8_scaling == Fp8Scaling::delayed);
}

TEST_CASE("options state what a recipe's file leaves out") {
  const std::string file = "model:\n  tensor_model_parallel_size: 1\n";
  CHECK(refusal_of("bridge.yaml", file, {.model = "llama3-8b"}).find("--micro-batch N") !=
        std::string::npos);
  const Scenario s = import_of("bridge.yaml", file,
                               {.model = "llama3-8b", .sequence_length = 8192, .micro_batch = 1})
                         .scenario;
  CHECK(s.training.sequence_length == 8192);
}

// align_param_gather of NVIDIA/Megatron-LM megatron/core/distributed/
// distributed_data_parallel_config.py is false; NVIDIA-NeMo/Megatron-Bridge
// src/megatron/bridge/training/comm_overlap.py sets it beside chunks.
TEST_CASE("a NeMo file aligns no gathers unless it says so") {
  const auto aligns = [](const std::string& more) {
    return import_of("bridge.yaml",
                     "model:\n  tensor_model_parallel_size: 1\n  pipeline_model_parallel_size: 2\n"
                     "  virtual_pipeline_model_parallel_size: 2\n  seq_length: 4096\n"
                     "train:\n  global_batch_size: 512\n  micro_batch_size: 1\n"
                     "ddp:\n  use_distributed_optimizer: true\n  overlap_grad_reduce: true\n"
                     "  overlap_param_gather: true\n" +
                         more,
                     {.model = "llama3-8b", .nodes = 2})
        .scenario.parallelism.data.align_param_gather;
  };
  CHECK_FALSE(aligns(""));
  CHECK_FALSE(aligns("  align_param_gather: false\n"));
  CHECK(aligns("  align_param_gather: true\n"));
  CHECK(aligns("comm_overlap:\n  tp_comm_overlap: false\n"));
}
