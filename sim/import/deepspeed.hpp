// DeepSpeed's configuration, wherever it stands: in a file of its own, or within another's.
#pragma once

#include "sim/core/json_tree.hpp"
#include "sim/import/config/config.hpp"
#include "sim/import/config/trainer.hpp"
#include "sim/import/draft.hpp"
#include "sim/import/machine.hpp"

namespace stepsim {

struct DeepspeedSource {
  JsonTree config;           ///< a map
  StatedMachine machine;     ///< what is stated of the GPUs beside it
  TrainerSettings settings;  ///< what "auto" stands for
  Draft draft;               ///< with what was noted before
};

/// The file that another configuration names as its `deepspeed`, in its folder or above. Throws
/// UserError with the place where there is none, or where it cannot be read.
JsonTree deepspeed_file(Config& config, const std::string& named);

/// "auto" is what Hugging Face's Trainer fills in (huggingface/transformers
/// src/transformers/integrations/deepspeed.py). Throws UserError with every mistake.
Draft import_deepspeed(DeepspeedSource source, const ImportOptions& options);

/// deepspeedai/DeepSpeed deepspeed/runtime/config.py and deepspeed/runtime/zero/config.py.
const KnownKeys& deepspeed_keys();

}  // namespace stepsim
