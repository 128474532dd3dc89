// What the host calls for each module of a layer besides the operators that launch kernels.
//
// Numbers of calls are read from frameworks' sources: Megatron-LM's layers and modules of PyTorch.
#pragma once

#include "sim/ops/host_calls.hpp"

namespace stepsim {

struct ModuleCalls {
  HostCalls norm, linear, activation, residual;
  int query_key_value_modules = 1;  ///< linear modules for queries, keys and values
  /// `fused`: one kernel for attention; `forks`: dropout in a state of the tensor rank's own.
  HostCalls (*attention)(bool fused, bool forks) = nullptr;
  bool has_hooks = false;  ///< a hook in Python runs for each gradient
};

ModuleCalls torch_modules();
ModuleCalls megatron_modules();

}  // namespace stepsim
