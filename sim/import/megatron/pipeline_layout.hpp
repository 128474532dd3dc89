// Megatron-LM's --pipeline-model-parallel-layout: "Ettt|(tt|)*29,m|L".
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace stepsim {

/// Layers of each part, as "|" parts them, without those that predict further tokens ("m").
/// "(...)*n" and "x*n" repeat; commas count for nothing (NVIDIA/Megatron-LM
/// megatron/core/transformer/pipeline_parallel_layer_layout.py, parse_str_to_list). Nothing where
/// the text has another character, stands for more than 100,000, or has its one embedding (E) not
/// first, or its one loss (L) not last.
std::optional<std::vector<std::int64_t>> layers_of_layout(std::string_view text);

}  // namespace stepsim
