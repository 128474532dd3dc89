// The model that Megatron-LM's options describe.
#pragma once

#include "sim/import/megatron/megatron_options.hpp"

namespace stepsim {

/// Whether layers have experts: --num-experts 0 is Megatron-LM's way to say that they have none.
bool has_megatron_experts(MegatronOptions& options);

/// Writes the scenario's `model`. `program` is the file that has the options; "" where it is not
/// known. Throws UserError where an option is missing, or the model is none that can be said.
void write_megatron_model(MegatronOptions& options, const PlacedWord& program, Draft& draft);

}  // namespace stepsim
