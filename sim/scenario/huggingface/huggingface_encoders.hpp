// Families of models on Hugging Face that have an encoder.
#pragma once

#include "sim/scenario/huggingface/huggingface_translation.hpp"

namespace stepsim {

void bert_of_huggingface(Translation& t);
void t5_of_huggingface(Translation& t);
void vit_of_huggingface(Translation& t);

}  // namespace stepsim
