// Which activations the backward pass computes again.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace stepsim {

/// Nothing, some modules of each layer, or whole layers.
enum class Recompute { none, selective, full };

/// Which layers full recompute repeats: all, in groups of equal size, or the first ones of a chunk.
enum class RecomputeMethod { uniform, block };

/// Parts of a layer, named after Megatron-LM's --recompute-modules. `attention` (up to the sum
/// behind it) and `mlp_up` (an MLP but for its last product) are what policies of jax.checkpoint
/// leave out; `every_second_matmul` is all that torchtitan's selective checkpointing by operations
/// computes again.
enum class RecomputeModule {
  core_attention,
  attention,
  layernorm,
  mla_up_proj,
  mlp,
  mlp_up,
  moe,
  moe_act,
  shared_experts,
  every_second_matmul
};

/// Activations that are computed again in the backward pass instead of kept.
struct Recomputation {
  Recomputation() = default;
  Recomputation(Recompute what) : kind(what) {}  // NOLINT(google-explicit-constructor)

  Recompute kind = Recompute::none;
  std::vector<RecomputeModule> modules{RecomputeModule::core_attention};  ///< selective: these
  RecomputeMethod method = RecomputeMethod::uniform;                      ///< full: which layers
  std::int64_t layers = 1;  ///< uniform: of a group that is repeated as one; block: of each chunk
  bool early_stop = false;  ///< full: ends with the last tensor that is kept (PyTorch's checkpoint)

  /// Whether selective recompute includes the module.
  bool repeats(RecomputeModule module) const {
    return kind == Recompute::selective && std::ranges::find(modules, module) != modules.end();
  }
  bool operator==(const Recomputation&) const = default;
};

}  // namespace stepsim
