// The presets of frameworks, as values and as the list that documents them.
#include "sim/scenario/describe/frameworks.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "sim/scenario/describe/framework_abilities.hpp"
#include "sim/scenario/describe/framework_sources.hpp"
#include "sim/scenario/names.hpp"

namespace stepsim {
namespace {

constexpr Bytes kInElements{0};

bool is_pytorch(std::optional<Framework> framework) {
  return framework && *framework != Framework::megatron && *framework != Framework::deepspeed;
}

DataParallel fully_sharded() {
  DataParallel data;
  data.sharding = sharding_named("zero3");
  data.forward_prefetch = false;
  data.reshard_after_forward = Reshard::layers;
  return data;
}

DataParallel of_framework(Framework framework) {
  DataParallel data;
  switch (framework) {
    case Framework::pytorch_ddp:
      data.rebuild_buckets = true;
      data.bucket_views = false;
      data.broadcast_buffers = true;
      data.averaging = Averaging::gradient;
      return data;
    case Framework::pytorch_fsdp1:
      data = fully_sharded();
      data.limit_all_gathers = true;
      return data;
    case Framework::pytorch_fsdp2:
      data = fully_sharded();
      data.limit_reduce_scatters = true;
      data.copy_out = true;
      return data;
    case Framework::megatron:
      data.bucket_later_stages = false;
      data.check_for_nan_in_grad = true;
      return data;
    case Framework::deepspeed:
      data.persistence_threshold = 100'000;
      data.all_reduce_gradients = true;
      return data;
  }
  return data;
}

constexpr const char* kAccumulateGrad =
    "pytorch/pytorch: torch/csrc/autograd/functions/accumulate_grad.h";
constexpr const char* kCompile = "pytorch/pytorch: torch/__init__.py";
constexpr const char* kModule = "pytorch/pytorch: torch/nn/modules/module.py";
constexpr const char* kOptimizer = "pytorch/pytorch: torch/optim/optimizer.py";
constexpr const char* kTensorParallel =
    "pytorch/pytorch: torch/distributed/tensor/parallel/style.py";
constexpr const char* kReducerCode = "pytorch/pytorch: torch/csrc/distributed/c10d/reducer.cpp";
constexpr const char* kReducer = "pytorch/pytorch: torch/csrc/distributed/c10d/reducer.hpp";
constexpr const char* kFsdp1Runtime = "pytorch/pytorch: torch/distributed/fsdp/_runtime_utils.py";
constexpr const char* kFsdp2Group =
    "pytorch/pytorch: torch/distributed/fsdp/_fully_shard/_fsdp_param_group.py";
constexpr const char* kMegatronDdp =
    "NVIDIA/Megatron-LM: megatron/core/distributed/distributed_data_parallel.py";
constexpr const char* kMegatronModel = "NVIDIA/Megatron-LM: megatron/core/model_parallel_config.py";
constexpr const char* kMegatronLayers =
    "NVIDIA/Megatron-LM: megatron/core/tensor_parallel/layers.py";

const std::string kData = "parallelism.data.";

FrameworkPreset written_modules(Framework framework) {
  return {framework, "training.fusion", "none", "", "torch.compile has to be asked for", kCompile};
}

/// What PyTorch does with gradients, kernels of optimizers and modules.
void add_pytorch(std::vector<FrameworkPreset>& presets, Framework framework) {
  presets.push_back({framework, "training.used_gradients", "free", "",
                     "zero_grad(set_to_none=True), since 2.0", kOptimizer});
  presets.push_back({framework, "training.optimizer_kernels", "foreach", "",
                     "_default_to_fused_or_foreach", kOptimizer});
  presets.push_back(written_modules(framework));
}

void add_pytorch_ddp(std::vector<FrameworkPreset>& presets) {
  const auto add = [&](const char* key, const char* value, const char* note, const char* source) {
    presets.push_back({Framework::pytorch_ddp, kData + key, value, "", note, source});
  };
  add("sharding", "ddp", "", kDdp);
  add("bucket", "25 MiB", "kDefaultBucketBytesCap", kReducer);
  add("first_bucket", "1 MiB", "kDefaultFirstBucketBytes; none where bucket_cap_mb is given",
      kReducer);
  add("overlap", "true", "a bucket is reduced when its last gradient is ready", kReducer);
  add("rebuild_buckets", "true", "one bucket until the order of gradients is known", kDdp);
  add("bucket_views", "false", "gradient_as_bucket_view=False", kDdp);
  add("broadcast_buffers", "true", "broadcast_buffers=True", kDdp);
  add("averaging", "gradient", "mul_out into the bucket, or div_ of a view", kReducerCode);
  add("no_sync", "false", "each backward reduces; no_sync() has to be asked for", kDdp);
  presets.push_back({Framework::pytorch_ddp, "training.fused_accumulation", "false", "",
                     "AccumulateGrad adds", kAccumulateGrad});
  add_pytorch(presets, Framework::pytorch_ddp);
}

void add_fsdp(std::vector<FrameworkPreset>& presets, Framework framework, const char* api,
              const char* runtime) {
  const bool first = framework == Framework::pytorch_fsdp1;
  const auto add = [&](const char* key, const char* value, const char* note, const char* source) {
    presets.push_back({framework, kData + key, value, "", note, source});
  };
  add("sharding", "zero3", first ? "FULL_SHARD" : "", api);
  add("overlap", "true", "gathers and reductions have streams of their own", runtime);
  add("no_sync", "false",
      first ? "no_sync() has to be asked for" : "set_requires_gradient_sync has to be asked for",
      api);
  add("forward_prefetch", "false",
      first ? "forward_prefetch=False" : "the host runs ahead: implicit prefetch", api);
  add("backward_prefetch", "pre", first ? "BACKWARD_PRE" : "the next group in pre-backward",
      first ? api : runtime);
  add("limit_all_gathers", first ? "true" : "false",
      first ? "limit_all_gathers=True: at most two in flight" : "events, the host does not wait",
      first ? api : runtime);
  add("limit_reduce_scatters", first ? "false" : "true",
      first ? "" : "post_backward waits for the last reduce-scatter", runtime);
  add("copy_out", first ? "false" : "true",
      first ? "parameters are views into the buffer" : "foreach_all_gather_copy_out",
      first ? runtime
            : "pytorch/pytorch: torch/distributed/fsdp/_fully_shard/_fsdp_collectives.py");
  add("reshard_after_forward", "layers", "the root keeps its parameters for backward",
      first ? runtime : api);
  if (!first)
    presets.push_back({framework, "parallelism.dtensor", "true", "parallelism.tensor=2",
                       "ColwiseParallel, RowwiseParallel", kTensorParallel});
  add_pytorch(presets, framework);
}

void add_megatron(std::vector<FrameworkPreset>& presets) {
  const auto add = [&](const std::string& path, const char* value, const char* when,
                       const char* note, const char* source) {
    presets.push_back({Framework::megatron, path, value, when, note, source});
  };
  const char* chunks = "parallelism.pipeline={stages: 2, chunks: 2, schedule: interleaved}";
  add(kData + "sharding", "ddp", "", "use_distributed_optimizer=False", kMegatronDdpConfig);
  add("training.gradients", "fp32", "training.precision=bf16", "accumulate_allreduce_grads_in_fp32",
      kMegatronArguments);
  add("training.gradients", "fp16", "training.precision=fp16", "", kMegatronArguments);
  add("training.vocabulary_multiple", "128", "", "make_vocab_size_divisible_by",
      kMegatronArguments);
  add("training.transformer_impl", "transformer_engine", "", "transformer_impl",
      kMegatronArguments);
  add(kData + "bucket", "160 MB", "",
      "max(40 000 000, 1 000 000 * data-parallel ranks) elements, here of 4 B", kMegatronDdp);
  add(kData + "first_bucket", "160 MB", "", "as bucket", kMegatronDdp);
  add(kData + "bucket_later_stages", "false", "",
      "one bucket for each part (chunk of a rank) but the first", kMegatronDdp);
  add(kData + "overlap", "false", "", "overlap_grad_reduce=False", kMegatronDdpConfig);
  add(kData + "no_sync", "true", "", "no_sync_func but for the last micro-batch",
      kMegatronSchedules);
  add(kData + "check_for_nan_in_grad", "true", "", "check_for_nan_in_loss_and_grad, since 2023",
      kMegatronArguments);
  add(kData + "overlap_param_gather", "false", "parallelism.data={sharding: zero1, overlap: true}",
      "overlap_param_gather=False", kMegatronDdpConfig);
  add("parallelism.overlap_tensor", "true", "", "gradient_accumulation and async all-reduce",
      kMegatronLayers);
  add("parallelism.pipeline.overlap_p2p", "false", "", "not without interleaving",
      kMegatronArguments);
  add("parallelism.pipeline.overlap_p2p", "true", chunks, "", kMegatronArguments);
  add("parallelism.pipeline.batch_p2p_sync", "true", "",
      "batch_p2p_sync=True: torch.cuda.synchronize() behind sends and receives", kMegatronModel);
  add("parallelism.pipeline.batch_p2p_sync", "false", chunks,
      "batch_p2p_comm = not overlap_p2p_comm", kMegatronArguments);
  add("parallelism.pipeline.scatter_gather", "true", "", "scatter_gather_tensors_in_pipeline",
      kMegatronArguments);
}

void add_deepspeed(std::vector<FrameworkPreset>& presets) {
  const auto add = [&](const char* key, const char* value, const char* when, const char* note,
                       const char* source) {
    presets.push_back({Framework::deepspeed, kData + key, value, when, note, source});
  };
  const char* zero1 = "parallelism.data.sharding=zero1";
  const char* zero2 = "parallelism.data.sharding=zero2";
  const char* zero3 = "parallelism.data.sharding=zero3";
  add("sharding", "ddp", "", "stage 0", kZeroConfig);
  add("bucket", "1 GB", "", "reduce_bucket_size of 500 000 000 elements, here of 2 B", kZeroConfig);
  add("first_bucket", "1 GB", "", "as bucket", kZeroConfig);
  add("overlap", "false", zero2, "overlap_comm, where it is not set", kZeroConfig);
  add("overlap", "true", zero3, "overlap_comm, where it is not set", kZeroConfig);
  add("no_sync", "true", zero1, "gradients are reduced at the accumulation boundary", kZeroStages);
  add("no_sync", "false", zero2, "partitioned gradients are reduced by every backward",
      kZeroStages);
  add("all_reduce_gradients", "true", zero1,
      "contiguous_gradients is off in stage 1: buffered_reduce_fallback", kZeroStages);
  add("all_reduce_gradients", "true", zero2,
      "use_multi_rank_bucket_allreduce, since 0.12.4: ranks copy their share out", kZeroStages);
  add("forward_prefetch", "true", zero3, "the trace of the last step says what comes next",
      kZeroFetch);
  add("reshard_after_forward", "all", zero3, "", kZeroFetch);
  add("persistence_threshold", "100000", "", "stage3_param_persistence_threshold", kZeroConfig);
  presets.push_back({Framework::deepspeed, "training.fused_accumulation", "false", "",
                     "AccumulateGrad adds", kAccumulateGrad});
  presets.push_back(written_modules(Framework::deepspeed));
}

}  // namespace

DataParallel default_data(std::optional<Framework> framework) {
  DataParallel data = framework ? of_framework(*framework) : DataParallel{};
  const bool elements = framework == Framework::megatron || framework == Framework::deepspeed;
  // bucket_cap_mb and kDefaultFirstBucketBytes of PyTorch's DistributedDataParallel.
  data.bucket = elements ? kInElements : 25_MiB;
  data.first_bucket = elements ? kInElements : 1_MiB;
  return data;
}

bool default_fused_accumulation(std::optional<Framework> framework) {
  return framework != Framework::pytorch_ddp && framework != Framework::deepspeed;
}

UsedGradients default_used_gradients(std::optional<Framework> framework) {
  return is_pytorch(framework) ? UsedGradients::free : UsedGradients::clear_buffer;
}

OptimizerKernels default_optimizer_kernels(std::optional<Framework> framework) {
  return is_pytorch(framework) ? OptimizerKernels::foreach_op : OptimizerKernels::fused;
}

std::string default_fusion(std::optional<Framework> framework) {
  return is_pytorch(framework) || framework == Framework::deepspeed ? "none" : "fused";
}

TransformerImpl default_transformer_impl(std::optional<Framework> framework) {
  return framework == Framework::megatron ? TransformerImpl::transformer_engine
                                          : TransformerImpl::local;
}

std::optional<std::int64_t> default_vocabulary_multiple(std::optional<Framework> framework) {
  if (framework == Framework::megatron) return 128;
  return std::nullopt;
}

Precision default_gradients(std::optional<Framework> framework, Precision precision) {
  return framework == Framework::megatron && precision == Precision::bf16 ? Precision::fp32
                                                                          : precision;
}

bool default_batch_p2p_sync(std::optional<Framework> framework, bool overlap_p2p) {
  return framework == Framework::megatron && !overlap_p2p;
}

HostPace default_pace(std::optional<Framework> framework, HostMode mode) {
  const bool calls_modules = mode == HostMode::eager || mode == HostMode::blocking;
  return framework && calls_modules ? HostPace::calls : HostPace::launches;
}

bool compiles_to_python(std::optional<Framework> framework, HostMode mode) {
  return mode == HostMode::compiled &&
         (is_pytorch(framework) || framework == Framework::deepspeed);
}

Seconds default_launch(std::optional<Framework> framework, HostMode mode, HostPace pace,
                       double speed) {
  if (compiles_to_python(framework, mode)) return kInductorLaunch / speed;
  if (mode != HostMode::graph && pace == HostPace::calls) return kOperatorLaunch / speed;
  return default_launch(mode);
}

bool default_dtensor(std::optional<Framework> framework, int tensor) {
  return framework == Framework::pytorch_fsdp2 && tensor > 1;
}

bool default_overlap(std::optional<Framework> framework, const Sharding& sharding) {
  if (framework == Framework::megatron) return false;
  return framework != Framework::deepspeed || sharding.shards_parameters;
}

bool default_no_sync(std::optional<Framework> framework, const Sharding& sharding) {
  return !is_pytorch(framework) && !sharding.shards_gradients && !sharding.shards_parameters;
}

double bucket_elements(Framework framework, int data_parallel) {
  return framework == Framework::megatron ? std::max(40e6, 1e6 * data_parallel) : 5e8;
}

void size_buckets(Scenario& scenario) {
  DataParallel& data = scenario.parallelism.data;
  if (data.bucket == kInElements) {
    const int model_ranks = scenario.parallelism.tensor * scenario.parallelism.pipeline.stages;
    const int ranks = std::max(scenario.cluster.gpus() / std::max(model_ranks, 1), 1);
    data.bucket = Bytes{bucket_elements(*scenario.framework, ranks) *
                        bytes_per_element(scenario.training.gradients)};
  }
  if (data.first_bucket == kInElements) data.first_bucket = data.bucket;
}

const std::vector<FrameworkPreset>& framework_presets() {
  static const std::vector<FrameworkPreset> presets = [] {
    std::vector<FrameworkPreset> all;
    add_pytorch_ddp(all);
    add_fsdp(all, Framework::pytorch_fsdp1, kFsdp1, kFsdp1Runtime);
    add_fsdp(all, Framework::pytorch_fsdp2, kFsdp2, kFsdp2Group);
    add_megatron(all);
    add_deepspeed(all);
    for (const auto& [name, framework] : kNames<Framework>) {
      for (const char* mode : {"host.mode=eager", "host.mode=blocking"})
        all.push_back(
            {framework, "host.pace", "calls", mode, "modules are called one by one", kModule});
    }
    return all;
  }();
  return presets;
}

std::string framework_reference() {
  std::string text;
  for (const auto& [name, framework] : kNames<Framework>) {
    text += fmt::format(
        "{}## {}\n\nWhat it does by default:\n\n"
        "| key | value | where | what stands behind it | source |\n"
        "|---|---|---|---|---|\n",
        text.empty() ? "" : "\n", name);
    for (const FrameworkPreset& preset : framework_presets()) {
      if (preset.framework != framework) continue;
      text += fmt::format("| `{}` | {} | {} | {} | {} |\n", preset.path, preset.value,
                          preset.when.empty() ? "" : "`" + preset.when + "`", preset.note,
                          preset.source);
    }
    text += "\nWhat it can do:\n\n" + ability_reference(framework);
  }
  return text;
}

}  // namespace stepsim
