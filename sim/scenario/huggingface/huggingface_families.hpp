// Families of models on Hugging Face, by their model_type: which of a config's keys say what.
#pragma once

#include <string_view>
#include <vector>

#include "sim/scenario/huggingface/huggingface_translation.hpp"

namespace stepsim {

struct Family {
  std::string_view model_type;
  void (*translate)(Translation&);
};

/// Sorted by model_type. Keys that a config leaves out have the defaults of the family's class
/// (huggingface/transformers src/transformers/models/*/configuration_*.py).
const std::vector<Family>& huggingface_families();

// Families that have an encoder.
void bert_of_huggingface(Translation& t);
void t5_of_huggingface(Translation& t);
void vit_of_huggingface(Translation& t);

}  // namespace stepsim
