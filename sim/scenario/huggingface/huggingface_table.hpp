// The two halves of the table of layouts, and what several rows say of their layers.
#pragma once

#include "sim/scenario/huggingface/huggingface_layout.hpp"

namespace stepsim {

const std::vector<ModelLayout>& dense_huggingface_layouts();
const std::vector<ModelLayout>& expert_huggingface_layouts();

// What layers have and is not simulated.
inline constexpr std::string_view kParallel =
    "attention and MLP share their input and a sum: they are simulated one after the other";
inline constexpr std::string_view kFourNorms =
    "four norms a layer: those behind attention and MLP are left out";
inline constexpr std::string_view kNormsBehind =
    "norms are behind attention and MLP: they are simulated before them";
inline constexpr std::string_view kWideNorms =
    "queries and keys have norms over all heads: each head's alone is simulated";
inline constexpr std::string_view kIndex =
    "the index that picks keys is left out: attention is counted over the whole sequence";
inline constexpr std::string_view kHeadBias = "the bias of the logits is left out";
inline constexpr std::string_view kSoftCaps = "soft caps of scores and logits are left out";

}  // namespace stepsim
