// Beginnings of the names of such options, program by program.
#include "sim/import/megatron/fork_flags.hpp"

#include <algorithm>

namespace stepsim {
namespace {

constexpr std::string_view kForks[] = {
    // slime: what generates and rewards samples (THUDM/slime slime/utils/arguments.py)
    "advantage-estimator",
    "apply-chat-template",
    "balance-data",
    "colocate",
    "custom-",
    "dynamic-sampling",
    "entropy-coef",
    "eps-clip",
    "hf-checkpoint",
    "input-key",
    "kl-",
    "label-key",
    "metadata-key",
    "n-samples-per",
    "num-rollout",
    "num-steps-per-rollout",
    "over-sampling",
    "prompt-data",
    "ref-load",
    "reward-",
    "rm-type",
    "rollout-",
    "sglang-",
    "use-kl-loss",
    "use-tis",
    "use-wandb",
    // Megatron-DeepSpeed, microsoft's and bigscience-workshop's (megatron/arguments.py)
    "abort-on-unmet",
    "codecarbon",
    "deepspeed-activation-checkpointing",
    "kill-switch-path",
    "sync-tp-duplicated",
    "train-weighted",
    "valid-num-workers",
    "valid-weighted",
    // Pai-Megatron-Patch (megatron_patch/arguments.py)
    "dataset",
    "max-padding-length",
    // FlagScale (release v0.2, megatron/megatron/arguments.py)
    "layernorm-init-weight",
    "rotary-interleaved-patch",
    "rotary-position-embeddings-in-fp32",
    // swiss-ai/Megatron-LM, llm-jp/Megatron-LM (megatron/training/arguments.py)
    "trigger-path",
    "use-z-loss",
};

}  // namespace

bool leaves_step_of_fork(std::string_view name) {
  return std::any_of(std::begin(kForks), std::end(kForks),
                     [&](std::string_view start) { return name.starts_with(start); });
}

}  // namespace stepsim
