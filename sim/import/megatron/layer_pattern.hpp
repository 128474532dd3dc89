// Patterns of layers as Megatron-LM's options write them: sums and multiples of lists, as in
// "([0]*3+[1]*58)" (NVIDIA/Megatron-LM megatron/training/arguments.py, moe_freq_type).
#pragma once

#include <optional>
#include <string_view>
#include <vector>

namespace stepsim {

/// A 0 or 1 for each layer; nothing where the text is no such pattern, or one of more than 10,000
/// layers.
std::optional<std::vector<int>> layer_pattern(std::string_view text);

}  // namespace stepsim
