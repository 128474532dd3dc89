// Keys that LLaMA-Factory and TRL add to TrainingArguments, and what they take where nobody says.
#pragma once

#include "sim/import/config/config.hpp"
#include "sim/import/config/trainer.hpp"
#include "sim/import/draft.hpp"

namespace stepsim {

/// Reads them where the file is one of these programs; what changes a step and cannot be said is a
/// note, what nobody states an assumption. Reports splits of Megatron-LM, which LLaMA-Factory hands
/// on, as mistakes of `config`.
void read_dialect(Config& config, TrainerSettings& settings, Draft& draft);

}  // namespace stepsim
