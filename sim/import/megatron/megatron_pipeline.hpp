// The pipeline that Megatron-LM's options describe: virtual stages, and how layers are dealt out.
#pragma once

#include "sim/import/megatron/megatron_options.hpp"

namespace stepsim {

/// Writes `parallelism.pipeline` of two stages and more. Throws UserError where layers cannot be
/// dealt out as stated.
void write_megatron_pipeline(MegatronOptions& options, Draft& draft);

/// Whether stages of a pipeline have several chunks each.
bool has_megatron_chunks(MegatronOptions& options);

}  // namespace stepsim
