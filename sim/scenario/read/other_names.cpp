// The list of other names. Each is an option, field or call of a framework that people train with,
// or the usual variable for it in papers and code.
#include "sim/scenario/read/other_names.hpp"

#include <algorithm>
#include <string>

#include "sim/core/words.hpp"

namespace stepsim {
namespace {

constexpr std::string_view kPassOfRank = "sequences of one pass of one rank";
constexpr std::string_view kOfStep = "sequences of a whole step, of all ranks and passes";
constexpr std::string_view kAccumulation =
    "passes of a step are global_batch over micro_batch and data-parallel ranks";
constexpr std::string_view kData = "what is left of the GPUs by the other degrees, unless stated";

const std::vector<OtherName> kOtherNames = {
    {"accumulate_grad_batches", "training.global_batch", kAccumulation},
    {"activation_checkpointing", "training.recompute", "full, selective or none"},
    {"amp", "training.precision", "fp16 or bf16"},
    {"attention_backend", "training.attention", ""},
    {"attn_implementation", "training.attention", ""},
    {"autocast", "training.precision", ""},
    {"batch_size", "training.global_batch", kOfStep},
    {"bf16", "training.precision", "bf16"},
    {"bucket_cap_mb", "parallelism.data.bucket", "25 MiB, say"},
    {"bucket_size", "parallelism.data.bucket", "25 MiB, say"},
    {"bucket_size_mb", "parallelism.data.bucket", "25 MiB, say"},
    {"channels_last", "model.layout", "nhwc"},
    {"checkpoint_activations", "training.recompute", "full, selective or none"},
    {"clip_grad", "training.gradient_clipping", "true or false"},
    {"comm_hook", "parallelism.data.reduce_dtype", "bf16 or fp16"},
    {"communication_data_type", "parallelism.data.reduce_dtype", ""},
    {"compile", "training.fusion", "compiled"},
    {"context_length", "training.sequence_length", ""},
    {"context_parallel", "parallelism.context", ""},
    {"context_parallel_degree", "parallelism.context.degree", ""},
    {"context_parallel_size", "parallelism.context.degree", ""},
    {"cp", "parallelism.context.degree", ""},
    {"cpu_offload", "parallelism.data.offload_optimizer", "the optimizer's states and its step"},
    {"cuda_graph", "host.mode", ""},
    {"cuda_graphs", "host.mode", ""},
    {"cuda_launch_blocking", "host.mode", "blocking"},
    {"cudnn_benchmark", "training.convolution_autotuning", "true or false"},
    {"d_ff", "model.ffn", ""},
    {"d_model", "model.hidden", ""},
    {"dali", "data.decode_on", "gpu"},
    {"data_parallel", "parallelism.data.degree", kData},
    {"data_parallel_degree", "parallelism.data.degree", kData},
    {"data_parallel_replicate_degree", "parallelism.data.shard_degree", "ranks that share a copy"},
    {"data_parallel_shard_degree", "parallelism.data.shard_degree", ""},
    {"data_parallel_size", "parallelism.data.degree", kData},
    {"ddp_static_graph", "parallelism.data.rebuild_buckets",
     "which the first step does in any case"},
    {"detect_anomaly", "host.anomaly_detection", "true or false"},
    {"dim", "model.hidden", ""},
    {"distributed_optimizer", "parallelism.data.sharding", "zero1"},
    {"dp", "parallelism.data.degree", kData},
    {"dtype", "training.precision", ""},
    {"ep", "parallelism.expert.degree", ""},
    {"etp", "parallelism.expert.tensor", ""},
    {"expert_model_parallel_size", "parallelism.expert.degree", ""},
    {"expert_parallel", "parallelism.expert", ""},
    {"expert_parallel_degree", "parallelism.expert.degree", ""},
    {"expert_parallel_size", "parallelism.expert.degree", ""},
    {"expert_tensor_parallel_degree", "parallelism.expert.tensor", ""},
    {"expert_tensor_parallel_size", "parallelism.expert.tensor", ""},
    {"ffn_hidden_size", "model.ffn", ""},
    {"find_unused_parameters", "parallelism.data.bucket_order",
     "forward: buckets stay as parameters are defined; false: backward; the walk through the "
     "graph is left out"},
    {"flash_attention", "training.attention", "flash2 or flash3"},
    {"flash_attn", "training.attention", "flash2 or flash3"},
    {"fp16", "training.precision", "fp16"},
    {"fp4", "training.precision", "nvfp4"},
    {"fp8", "training.precision", "fp8"},
    {"fsdp", "parallelism.data.sharding", "zero3; framework: pytorch-fsdp2 sets more"},
    {"gas", "training.global_batch", kAccumulation},
    {"gbs", "training.global_batch", kOfStep},
    {"global_batch_size", "training.global_batch", kOfStep},
    {"gpu_type", "cluster.gpu", ""},
    {"grad_accum", "training.global_batch", kAccumulation},
    {"grad_clip", "training.gradient_clipping", "true or false"},
    {"gradient_accumulation", "training.global_batch", kAccumulation},
    {"gradient_accumulation_steps", "training.global_batch", kAccumulation},
    {"gradient_as_bucket_view", "parallelism.data.bucket_views", ""},
    {"gradient_checkpointing", "training.recompute", "full, selective or none"},
    {"head_size", "model.head_dim", ""},
    {"hidden_dim", "model.hidden", ""},
    {"hidden_size", "model.hidden", ""},
    {"hsdp", "parallelism.data.shard_degree", "ranks that share a copy, beside sharding: zero3"},
    {"intermediate_size", "model.ffn", ""},
    {"item", "host.sync", "how often the loop reads a value of the GPU"},
    {"kv_channels", "model.head_dim", ""},
    {"max_autotune", "training.fusion", "compiled"},
    {"max_grad_norm", "training.gradient_clipping", "true or false"},
    {"max_position_embeddings", "training.sequence_length", "of the job, not the model's limit"},
    {"max_seq_len", "training.sequence_length", ""},
    {"max_seq_length", "training.sequence_length", ""},
    {"mbs", "training.micro_batch", kPassOfRank},
    {"micro_batch_size", "training.micro_batch", kPassOfRank},
    {"mixed_precision", "training.precision", ""},
    {"moe_router_topk", "model.experts.top_k", ""},
    {"n_embd", "model.hidden", ""},
    {"n_head", "model.heads", ""},
    {"n_heads", "model.heads", ""},
    {"n_kv_heads", "model.kv_heads", ""},
    {"n_layer", "model.layers", ""},
    {"n_layers", "model.layers", ""},
    {"nccl_algo", "collectives.all_reduce.algorithm", ""},
    {"nccl_proto", "collectives.all_reduce.protocol", ""},
    {"nnodes", "cluster.nodes", ""},
    {"nproc_per_node", "cluster.gpus_per_node", ""},
    {"num_attention_heads", "model.heads", ""},
    {"num_experts", "model.experts.count", ""},
    {"num_experts_per_tok", "model.experts.top_k", ""},
    {"num_gpus", "cluster.nodes", "nodes of gpus_per_node"},
    {"num_heads", "model.heads", ""},
    {"num_hidden_layers", "model.layers", ""},
    {"num_key_value_heads", "model.kv_heads", ""},
    {"num_layers", "model.layers", ""},
    {"num_local_experts", "model.experts.count", ""},
    {"num_micro_batches", "training.global_batch", kAccumulation},
    {"num_microbatches", "training.global_batch", kAccumulation},
    {"num_nodes", "cluster.nodes", ""},
    {"num_query_groups", "model.kv_heads", ""},
    {"num_workers", "data.workers", ""},
    {"offload", "parallelism.data.offload_optimizer", "the optimizer's states and its step"},
    {"omp_num_threads", "host.threads", "busy ones in each GPU's process"},
    {"optim", "training.optimizer", ""},
    {"overlap_comm", "parallelism.data.overlap", ""},
    {"overlap_grad_reduce", "parallelism.data.overlap", ""},
    {"per_device_train_batch_size", "training.micro_batch", kPassOfRank},
    {"pin_memory", "data.pinned", ""},
    {"pipeline_model_parallel_size", "parallelism.pipeline.stages", ""},
    {"pipeline_parallel", "parallelism.pipeline", ""},
    {"pipeline_parallel_degree", "parallelism.pipeline.stages", ""},
    {"pipeline_parallel_size", "parallelism.pipeline.stages", ""},
    {"pp", "parallelism.pipeline.stages", ""},
    {"prefetch_factor", "data.prefetch", "batches in flight per worker"},
    {"recompute_activations", "training.recompute", "selective"},
    {"recompute_granularity", "training.recompute.kind", ""},
    {"reduce_bucket_size", "parallelism.data.bucket", "in bytes"},
    {"reduce_overhead", "host.mode", "graph, beside training.fusion: compiled"},
    {"seq_len", "training.sequence_length", ""},
    {"seq_length", "training.sequence_length", ""},
    {"sequence_len", "training.sequence_length", ""},
    {"sequence_parallel", "parallelism.sequence", "true or false"},
    {"set_to_none", "training.used_gradients", "free; false: clear_tensors"},
    {"sharding_strategy", "parallelism.data.sharding", ""},
    {"sp", "parallelism.sequence", "true or false"},
    {"static_graph", "parallelism.data.rebuild_buckets", "which the first step does in any case"},
    {"tensor_model_parallel_size", "parallelism.tensor", ""},
    {"tensor_parallel", "parallelism.tensor", ""},
    {"tensor_parallel_degree", "parallelism.tensor", ""},
    {"tensor_parallel_size", "parallelism.tensor", ""},
    {"torch_compile", "training.fusion", "compiled"},
    {"torch_dtype", "training.precision", ""},
    {"tp", "parallelism.tensor", ""},
    {"train_batch_size", "training.global_batch", kOfStep},
    {"train_micro_batch_size_per_gpu", "training.micro_batch", kPassOfRank},
    {"use_distributed_optimizer", "parallelism.data.sharding", "zero1"},
    {"use_flash_attn", "training.attention", "flash2 or flash3"},
    {"virtual_pipeline_model_parallel_size", "parallelism.pipeline.chunks", ""},
    {"vocab_size", "model.vocabulary", ""},
    {"vpp", "parallelism.pipeline.chunks", ""},
    {"webdataset", "data.storage", "where its shards are read from"},
    {"world_size", "cluster.nodes", "nodes of gpus_per_node"},
    {"zero", "parallelism.data.sharding", "zero1, zero2 or zero3"},
    {"zero_grad", "training.used_gradients", ""},
    {"zero_optimization", "parallelism.data.sharding", "zero1, zero2 or zero3"},
    {"zero_stage", "parallelism.data.sharding", "zero1, zero2 or zero3"},
};

std::string plain(std::string_view word) {
  std::string letters = in_lower_case(std::string(word));
  std::erase_if(letters,
                [](char c) { return std::string_view("_-.()").find(c) != std::string_view::npos; });
  return letters;
}

}  // namespace

const std::vector<OtherName>& other_names() { return kOtherNames; }

const OtherName* other_name(std::string_view word) {
  const std::string wanted = plain(word);
  const auto found =
      std::find_if(kOtherNames.begin(), kOtherNames.end(),
                   [&](const OtherName& other) { return plain(other.name) == wanted; });
  return found == kOtherNames.end() ? nullptr : &*found;
}

}  // namespace stepsim
