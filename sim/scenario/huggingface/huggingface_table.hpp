// The parts of the table of layouts, and what several rows say of their layers.
#pragma once

#include "sim/scenario/huggingface/huggingface_layout.hpp"

namespace stepsim {

const std::vector<ModelLayout>& dense_huggingface_layouts();
const std::vector<ModelLayout>& expert_huggingface_layouts();
const std::vector<ModelLayout>& hybrid_huggingface_layouts();

/// Caps of scores and logits, where the config has them.
void set_caps(Translation& t);

// What layers have and is not simulated.
inline constexpr std::string_view kParallel =
    "attention and MLP share their input and a sum: they are simulated one after the other";
inline constexpr std::string_view kNormsBehind =
    "norms are behind attention and MLP: they are simulated before them";
inline constexpr std::string_view kWideNorms =
    "queries and keys have norms over all heads: each head's alone is simulated";
inline constexpr std::string_view kIndex =
    "the index that picks keys is left out: attention is counted over the whole sequence";
inline constexpr std::string_view kHeadBias = "the bias of the logits is left out";

}  // namespace stepsim
