// Activations that wait for their backward pass in the memory of the host.
#pragma once

#include <vector>

namespace stepsim {

/// Inputs of a layer's modules, named as in NVIDIA/Megatron-LM
/// megatron/core/transformer/transformer_config.py, offload_modules.
enum class OffloadModule {
  attn_norm,
  qkv_linear,
  core_attn,
  attn_proj,
  mlp_norm,
  expert_fc1,
  moe_act
};

/// What each layer keeps goes to the host behind its forward pass and comes back before its
/// backward pass.
struct ActivationOffload {
  double share = 1;                    ///< of what a layer keeps, or of its modules' inputs
  std::vector<OffloadModule> modules;  ///< empty: all that the layer keeps
  bool operator==(const ActivationOffload&) const = default;
};

}  // namespace stepsim
