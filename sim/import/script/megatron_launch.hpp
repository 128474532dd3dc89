// The start of a Megatron-LM program in a launch script.
#pragma once

#include "sim/import/megatron/megatron_options.hpp"
#include "sim/import/script/launchers.hpp"
#include "sim/import/script/script_text.hpp"

namespace stepsim {

struct MegatronLaunch {
  PlacedWord program;             ///< "pretrain_gpt.py"; "" where the options stand alone
  std::vector<PlacedWord> words;  ///< options of torchrun and of Megatron-LM
  LaunchedGpus gpus;
};

/// The one that the script starts. Throws UserError where it starts none, with what it starts
/// instead, and where it starts two with other options.
MegatronLaunch megatron_launch(const ScriptRun& run, const ScriptText& text,
                               const LaunchedGpus& requested);

/// Programs that nobody knows, which were not run: "yq"; each once.
std::vector<std::string> unknown_programs(const ScriptRun& run);

}  // namespace stepsim
