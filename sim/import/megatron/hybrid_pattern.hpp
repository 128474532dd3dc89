// The layers of a hybrid model as Megatron-LM's options say them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace stepsim {

/// The layers that a pattern stands for: "|" ends a stage and counts for nothing, "/" begins a depth
/// of multi-token prediction, and is none of them (NVIDIA/Megatron-LM
/// megatron/core/models/hybrid/hybrid_layer_allocation.py). Nothing where a letter is another kind
/// of layer.
std::optional<std::string> layers_of_pattern(std::string_view pattern);

/// The depths of multi-token prediction behind the layers of a pattern, all of the same parts.
struct PatternDepths {
  std::string letters;     ///< of each
  std::int64_t count = 0;  ///< 0: there is none
};

/// Nothing where depths differ, or a letter is another kind of layer.
std::optional<PatternDepths> depths_of_pattern(std::string_view pattern);

/// The layers that shares of attention and of MLPs stand for: attention is spread evenly between
/// mixers, MLPs take the places of mixers, evenly and rather late
/// (megatron/core/ssm/mamba_hybrid_layer_allocation.py, _allocate_auto).
std::string layers_of_shares(std::int64_t layers, double attention, double mlp);

}  // namespace stepsim
