// The keys that Hugging Face's accelerate has for FSDP, in both versions, wherever they stand, and
// what PyTorch's context parallelism is called beside them.
#pragma once

#include <string>
#include <vector>

#include "sim/import/config/config.hpp"
#include "sim/import/machine.hpp"

namespace stepsim {

/// Strategies in the order of their numbers, from 1 on, in capital letters
/// (torch.distributed.fsdp.ShardingStrategy).
const std::vector<std::string>& fsdp_strategies();

/// `parallelism.context.kind` of the way in which PyTorch's ring attention moves keys and values:
/// "alltoall" passes them on, all others gather them
/// (torch.distributed.tensor.experimental, set_rotate_method).
std::string context_kind(const std::string& rotate_method);

struct FsdpKeys {
  std::string framework;          ///< pytorch-fsdp1 or pytorch-fsdp2
  std::vector<std::string> data;  ///< entries of `parallelism.data`
  bool recompute = false;         ///< activations of whole layers are computed again
};

/// Reads the section; its keys may have the prefix "fsdp_" or none. `replicas` hold a copy each, 1
/// where nobody says so (huggingface/accelerate src/accelerate/utils/dataclasses.py,
/// FullyShardedDataParallelPlugin).
FsdpKeys read_fsdp(Config& config, const std::string& section, int version, std::int64_t replicas,
                   std::int64_t data_ranks, const Machine& machine, Draft& draft);

/// Keys of the section that leave a step as it is, and those that a scenario cannot say.
void add_fsdp_keys(const std::string& section, KnownKeys& known);

}  // namespace stepsim
