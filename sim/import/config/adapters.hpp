// Adapters of PEFT as trainers name them: their rank and the linear layers that have one.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/import/draft.hpp"

namespace stepsim {

/// PEFT's LoraConfig, with names of modules as Hugging Face's models have them: q_proj, gate_proj.
struct PeftAdapters {
  std::int64_t rank = 8;
  bool has_dropout = false;
  /// Empty: PEFT's own choice, which is q_proj and v_proj for Llama and its like
  /// (huggingface/peft src/peft/utils/constants.py).
  std::vector<std::string> modules;
  bool is_everywhere = false;  ///< all linear layers: "all-linear", "all"
};

/// The value of `training.lora`: "{rank: 8, target_modules: [linear_q, linear_v], dropout: false}".
/// Modules that scenarios do not have are noted as left out; PEFT's own choice is listed as assumed.
std::string lora_text(const PeftAdapters& adapters, Draft& draft);

}  // namespace stepsim
