// Files of frameworks that both presets and abilities cite: repository, and path in it.
#pragma once

namespace stepsim {

inline constexpr const char* kDdp = "pytorch/pytorch: torch/nn/parallel/distributed.py";
inline constexpr const char* kFsdp1 =
    "pytorch/pytorch: torch/distributed/fsdp/fully_sharded_data_parallel.py";
inline constexpr const char* kFsdp2 =
    "pytorch/pytorch: torch/distributed/fsdp/_fully_shard/_fully_shard.py";
inline constexpr const char* kMegatronDdpConfig =
    "NVIDIA/Megatron-LM: megatron/core/distributed/distributed_data_parallel_config.py";
inline constexpr const char* kMegatronArguments =
    "NVIDIA/Megatron-LM: megatron/training/arguments.py";
inline constexpr const char* kMegatronSchedules =
    "NVIDIA/Megatron-LM: megatron/core/pipeline_parallel/schedules.py";
inline constexpr const char* kZeroConfig =
    "deepspeedai/DeepSpeed: deepspeed/runtime/zero/config.py";
inline constexpr const char* kZeroStages =
    "deepspeedai/DeepSpeed: deepspeed/runtime/zero/stage_1_and_2.py";
inline constexpr const char* kZeroFetch =
    "deepspeedai/DeepSpeed: deepspeed/runtime/zero/partitioned_param_coordinator.py";

}  // namespace stepsim
