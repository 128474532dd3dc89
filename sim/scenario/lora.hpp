// Low-rank adapters beside weights that are frozen (Hu et al. 2021, arXiv 2106.09685).
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace stepsim {

/// Linear layers that can have an adapter, named as in NVIDIA NeMo and Megatron-LM; queries, keys
/// and values each for itself where they are layers of their own; in_proj and out_proj around a
/// mixer or a gated delta net; the rest of latent attention, where linear_q_proj makes queries that
/// have no narrow layer.
enum class LoraTarget {
  linear_qkv,
  linear_q,
  linear_k,
  linear_v,
  linear_proj,
  linear_fc1,
  linear_fc2,
  in_proj,
  out_proj,
  linear_q_proj,
  linear_q_down_proj,
  linear_q_up_proj,
  linear_kv_down_proj,
  linear_kv_up_proj
};

/// W x + B A x, where A and B alone are trained, and no other weight of the model is.
struct Lora {
  std::int64_t rank = 0;  ///< rows of A, columns of B
  std::vector<LoraTarget> target_modules{LoraTarget::linear_qkv, LoraTarget::linear_proj,
                                         LoraTarget::linear_fc1, LoraTarget::linear_fc2};
  bool dropout = false;     ///< before A
  bool all_to_all = false;  ///< how B's outputs come to the ranks of their tokens (NeMo's a2a)

  bool targets(LoraTarget target) const {
    return std::ranges::find(target_modules, target) != target_modules.end();
  }
  bool operator==(const Lora&) const = default;
};

}  // namespace stepsim
