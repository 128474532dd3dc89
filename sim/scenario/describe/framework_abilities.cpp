// The abilities of frameworks, as values and as the tables that document them.
//
// Sources were read in November 2026. What a fork of a framework adds is not there: schedules of
// zero bubbles for Megatron-LM, say.
#include "sim/scenario/describe/framework_abilities.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/scenario/describe/framework_sources.hpp"
#include "sim/scenario/names.hpp"

namespace stepsim {
namespace {

using Values = std::vector<std::string>;

constexpr const char* kZeroRedundancy =
    "pytorch/pytorch: torch/distributed/optim/zero_redundancy_optimizer.py";
constexpr const char* kFsdp1Strategies = "pytorch/pytorch: torch/distributed/fsdp/api.py";
constexpr const char* kTorchStage = "pytorch/pytorch: torch/distributed/pipelining/stage.py";
constexpr const char* kTorchSchedules =
    "pytorch/pytorch: torch/distributed/pipelining/schedules.py";
constexpr const char* kTorchTensor = "pytorch/pytorch: torch/distributed/tensor/parallel/style.py";
constexpr const char* kTorchContext =
    "pytorch/pytorch: torch/distributed/tensor/experimental/_attention.py";
constexpr const char* kTorchCheckpoint = "pytorch/pytorch: torch/utils/checkpoint.py";
constexpr const char* kTitanCheckpoint =
    "pytorch/torchtitan: torchtitan/distributed/activation_checkpoint.py";
constexpr const char* kTitanFsdp = "pytorch/torchtitan: torchtitan/distributed/fsdp.py";
constexpr const char* kTitanDispatch =
    "pytorch/torchtitan: torchtitan/models/common/token_dispatcher.py";
constexpr const char* kMegatronGroups = "NVIDIA/Megatron-LM: megatron/core/parallel_state.py";
constexpr const char* kMegatronConfig =
    "NVIDIA/Megatron-LM: megatron/core/transformer/transformer_config.py";
constexpr const char* kMegatronDispatch =
    "NVIDIA/Megatron-LM: megatron/core/transformer/moe/token_dispatcher.py";
constexpr const char* kPipeEngine = "deepspeedai/DeepSpeed: deepspeed/runtime/pipe/engine.py";
constexpr const char* kPipeSchedule = "deepspeedai/DeepSpeed: deepspeed/runtime/pipe/schedule.py";
constexpr const char* kAutoTp =
    "deepspeedai/DeepSpeed: deepspeed/runtime/tensor_parallel/config.py";
constexpr const char* kUlysses = "deepspeedai/DeepSpeed: deepspeed/sequence/layer.py";
constexpr const char* kDeepSpeedMoe = "deepspeedai/DeepSpeed: deepspeed/moe/sharded_moe.py";
constexpr const char* kDeepSpeedCheckpoint =
    "deepspeedai/DeepSpeed: deepspeed/runtime/activation_checkpointing/checkpointing.py";

const std::string kSharding = "parallelism.data.sharding";
const std::string kSchedule = "parallelism.pipeline.schedule";
const std::string kTensor = "parallelism.tensor";
const std::string kSequence = "parallelism.sequence";
const std::string kContext = "parallelism.context.kind";
const std::string kContextDegree = "parallelism.context.degree";
const std::string kExpertDegree = "parallelism.expert.degree";
const std::string kDispatcher = "parallelism.expert.dispatcher";
const std::string kKind = "training.recompute.kind";
const std::string kModules = "training.recompute.modules";
const std::string kMethod = "training.recompute.method";
const std::string kReshard = "parallelism.data.reshard_after_forward";
const std::string kShardDegree = "parallelism.data.shard_degree";
const std::string kOverlapGather = "parallelism.data.overlap_param_gather";
const std::string kOffload = "parallelism.data.offload_optimizer";

/// Rows of one framework.
class Rows {
 public:
  Rows(std::vector<FrameworkAbility>& all, Framework framework)
      : all_(all), framework_(framework) {}

  void add(const std::string& path, Values values, const char* note, const char* source) {
    all_.push_back({framework_, path, std::move(values), false, note, source});
  }
  void add_beside_stages(const std::string& path, Values values, const char* note,
                         const char* source) {
    all_.push_back({framework_, path, std::move(values), true, note, source});
  }

 private:
  std::vector<FrameworkAbility>& all_;
  Framework framework_;
};

/// What modules of PyTorch have, whoever shards them.
void add_pytorch(Rows& rows) {
  rows.add(kSchedule, {"gpipe", "1f1b", "interleaved-pytorch", "zb-v"},
           "ScheduleGPipe, Schedule1F1B, ScheduleInterleaved1F1B, ScheduleZBVZeroBubble",
           kTorchSchedules);
  rows.add(kTensor, {"any"}, "parallelize_module", kTorchTensor);
  rows.add(kSequence, {"false", "true"}, "SequenceParallel", kTorchTensor);
  rows.add(kContextDegree, {"any"}, "context_parallel", kTorchContext);
  rows.add(kContext, {"ring", "all_gather"}, "set_rotate_method", kTorchContext);
  rows.add(kKind, {"none", "selective", "full"}, "checkpoint, of any function", kTorchCheckpoint);
  rows.add(kMethod, {"uniform", "block"}, "a checkpoint around any layers", kTorchCheckpoint);
  rows.add(kModules, {"core_attention", "mlp", "moe", "shared_experts", "every_second_matmul"},
           "modules that a checkpoint wraps, and torchtitan's policy", kTitanCheckpoint);
  rows.add(kOverlapGather, {"false"}, "", kZeroRedundancy);
}

void add_ddp(Rows& rows) {
  rows.add(kSharding, {"ddp", "zero1"}, "ZeroRedundancyOptimizer: zero1", kZeroRedundancy);
  rows.add_beside_stages(kSharding, {"ddp", "zero1"}, "a stage's module may be one of DDP",
                         kTorchStage);
  rows.add(kExpertDegree, {"1"}, "replicas hold all parameters", kDdp);
  rows.add(kOffload, {"false"}, "", kDdp);
  add_pytorch(rows);
}

void add_fsdp1(Rows& rows) {
  rows.add(kSharding, {"ddp", "zero3"}, "NO_SHARD, FULL_SHARD", kFsdp1Strategies);
  rows.add_beside_stages(kSharding, {"ddp"}, "stages know DDP and fully_shard", kTorchStage);
  rows.add(kReshard, {"layers", "none"}, "FULL_SHARD and SHARD_GRAD_OP; the root stays gathered",
           kFsdp1Strategies);
  rows.add(kShardDegree, {"any"}, "HYBRID_SHARD", kFsdp1Strategies);
  rows.add(kExpertDegree, {"1"}, "", kFsdp1);
  rows.add(kOffload, {"false", "true"}, "CPUOffload", kFsdp1Strategies);
  add_pytorch(rows);
}

void add_fsdp2(Rows& rows) {
  rows.add(kSharding, {"zero3"}, "fully_shard", kFsdp2);
  rows.add_beside_stages(kSharding, {"zero3"}, "torchtitan then keeps parameters gathered",
                         kTorchStage);
  rows.add(kReshard, {"all", "layers", "none"},
           "fsdp_reshard_after_forward: always, default, never", kTitanFsdp);
  rows.add_beside_stages(kReshard, {"all", "none"}, "default: none", kTitanFsdp);
  rows.add(kShardDegree, {"any"}, "a mesh of two dimensions", kFsdp2);
  rows.add(kExpertDegree, {"any"}, "two groups of parameters in a block", kTitanFsdp);
  rows.add(kDispatcher, {"all_to_all", "deepep", "hybrid_ep"}, "", kTitanDispatch);
  rows.add(kOffload, {"false", "true"}, "CPUOffloadPolicy", kFsdp2);
  add_pytorch(rows);
}

void add_megatron(Rows& rows) {
  rows.add(kSharding, {"ddp", "zero1", "zero2", "zero3"},
           "use_distributed_optimizer: zero1; Megatron-FSDP: optim, optim_grads, "
           "optim_grads_params",
           kMegatronDdpConfig);
  rows.add_beside_stages(kSharding, {"ddp", "zero1"}, "not known for Megatron-FSDP",
                         kMegatronArguments);
  rows.add(kSchedule, {"1f1b", "interleaved"},
           "forward_backward_pipelining_without_interleaving and with it", kMegatronSchedules);
  rows.add(kTensor, {"any"}, "", kMegatronGroups);
  rows.add(kSequence, {"false", "true"}, "--sequence-parallel", kMegatronArguments);
  rows.add(kContextDegree, {"any"}, "", kMegatronGroups);
  rows.add(kContext, {"ring", "all_gather", "all_to_all"}, "cp_comm_type p2p, all_gather, a2a",
           kMegatronArguments);
  rows.add(kExpertDegree, {"any"}, "", kMegatronGroups);
  rows.add(kDispatcher, {"all_to_all", "all_gather", "deepep", "hybrid_ep"},
           "alltoall, allgather, and flex with DeepEP or HybridEP", kMegatronDispatch);
  rows.add(kKind, {"none", "selective", "full"}, "--recompute-granularity", kMegatronArguments);
  rows.add(kMethod, {"uniform", "block"}, "--recompute-method", kMegatronArguments);
  rows.add(
      kModules,
      {"core_attention", "layernorm", "mla_up_proj", "mlp", "moe", "moe_act", "shared_experts"},
      "--recompute-modules", kMegatronConfig);
  rows.add(kReshard, {"all"}, "Megatron-FSDP, layer by layer", kMegatronDdpConfig);
  rows.add(kShardDegree, {"any"}, "num_distributed_optimizer_instances", kMegatronDdpConfig);
  rows.add(kOverlapGather, {"false", "true"}, "overlap_param_gather", kMegatronDdpConfig);
  rows.add(kOffload, {"false", "true"}, "--optimizer-cpu-offload", kMegatronArguments);
}

void add_deepspeed(Rows& rows) {
  rows.add(kSharding, {"ddp", "zero1", "zero2", "zero3"}, "stages 0 to 3", kZeroConfig);
  rows.add_beside_stages(kSharding, {"ddp", "zero1"},
                         "ZeRO-2 and ZeRO-3 are refused with pipeline parallelism", kPipeEngine);
  rows.add(kSchedule, {"1f1b"}, "TrainSchedule", kPipeSchedule);
  rows.add(kTensor, {"any"}, "AutoTP, or a model's own (mpu)", kAutoTp);
  rows.add(kSequence, {"false"}, "AutoTP has no sequence-parallel regions", kAutoTp);
  rows.add(kContextDegree, {"any"}, "Ulysses: DistributedAttention", kUlysses);
  rows.add(kContext, {"all_to_all"}, "", kUlysses);
  rows.add(kExpertDegree, {"any"}, "deepspeed.moe", kDeepSpeedMoe);
  rows.add(kDispatcher, {"all_to_all"}, "_AllToAll", kDeepSpeedMoe);
  rows.add(kKind, {"none", "full"}, "checkpoint, of whole layers", kDeepSpeedCheckpoint);
  rows.add(kMethod, {"uniform", "block"}, "a checkpoint around any layers", kDeepSpeedCheckpoint);
  rows.add(kReshard, {"all"}, "released after use", kZeroFetch);
  rows.add(kShardDegree, {"any"}, "mics_shard_size", kZeroConfig);
  rows.add(kOverlapGather, {"false"}, "one gather behind the update", kZeroStages);
  rows.add(kOffload, {"false", "true"}, "offload_optimizer", kZeroConfig);
}

}  // namespace

const std::vector<FrameworkAbility>& framework_abilities() {
  static const std::vector<FrameworkAbility> abilities = [] {
    std::vector<FrameworkAbility> all;
    const auto add = [&](Framework framework, void (*rows)(Rows&)) {
      Rows of_framework(all, framework);
      rows(of_framework);
    };
    add(Framework::pytorch_ddp, add_ddp);
    add(Framework::pytorch_fsdp1, add_fsdp1);
    add(Framework::pytorch_fsdp2, add_fsdp2);
    add(Framework::megatron, add_megatron);
    add(Framework::deepspeed, add_deepspeed);
    return all;
  }();
  return abilities;
}

bool framework_can(Framework framework, std::string_view path, std::string_view value,
                   bool beside_stages) {
  const FrameworkAbility* found = nullptr;
  for (const FrameworkAbility& row : framework_abilities()) {
    if (row.framework != framework || row.path != path || (row.beside_stages && !beside_stages))
      continue;
    if (found == nullptr || row.beside_stages) found = &row;
  }
  if (found == nullptr || found->values == Values{"any"}) return true;
  return std::ranges::find(found->values, value) != found->values.end();
}

std::string ability_reference(Framework framework) {
  std::string text =
      "| key | values that it has | where | what stands behind it | source |\n"
      "|---|---|---|---|---|\n";
  for (const FrameworkAbility& row : framework_abilities()) {
    if (row.framework != framework) continue;
    text += fmt::format("| `{}` | {} | {} | {} | {} |\n", row.path, fmt::join(row.values, ", "),
                        row.beside_stages ? "beside pipeline stages" : "", row.note, row.source);
  }
  return text;
}

}  // namespace stepsim
