// What Hugging Face's Trainer is told, and what it takes where nobody says.
//
// Defaults are those of huggingface/transformers src/transformers/training_args.py.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/import/config/config.hpp"
#include "sim/import/draft.hpp"
#include "sim/import/import_options.hpp"
#include "sim/scenario/cluster.hpp"

namespace stepsim {

inline constexpr std::int64_t kTrainerMicroBatch = 8;  ///< per_device_train_batch_size

/// As options and TrainingArguments state it; options count first. Absent, 0 and "": not stated.
struct TrainerSettings {
  std::int64_t micro_batch = 0, accumulation = 0, global_batch = 0;
  std::string precision;
  std::optional<bool> clipping;
  std::string optimizer;          ///< as `training.optimizer` has it
  std::string optimizer_kernels;  ///< as `training.optimizer_kernels` has it
  bool recompute = false;         ///< gradient_checkpointing
  bool is_compiled = false;       ///< torch_compile
  bool has_master_weights = true;
  bool has_liger_modules = false;  ///< norms, positions and gated activations are Liger's
  std::string cross_entropy;       ///< as `training.cross_entropy` has it; "": not stated
  std::string lora;                ///< as `training.lora` has it; "": all weights are trained
  std::string attention;           ///< a kernel; "": PyTorch's own choice
  std::string model;               ///< a name in models/, or a path
  std::int64_t sequence_length = 0;
};

/// Reads the options and their file of TrainingArguments; what of it changes a step and cannot be
/// said is a note. Throws UserError with its mistakes.
TrainerSettings trainer_settings(const ImportOptions& options, Draft& draft);

/// Liger's kernels by the switch of transformers, which patches all that it has but the loss on
/// logits (linkedin/Liger-Kernel src/liger_kernel/transformers/monkey_patch.py).
void use_liger(TrainerSettings& settings);

/// The model that the text at `path` names: a name in models/, or the path of a config.json that
/// exists below the file's folder. Reports what is neither, and asks for --model; "" then.
std::string model_named(Config& config, std::string_view path);

/// The path of a file that a configuration in `folder` names; "" where there is none. Programs
/// start such paths from where they are started, which may be any folder above.
std::string file_near(const std::string& folder, const std::string& file);

/// `training.optimizer` and its kernels by the name that TrainingArguments' optim has for them
/// (huggingface/transformers src/transformers/training_args.py, OptimizerNames).
struct NamedOptimizer {
  std::string optimizer, kernels;
};
NamedOptimizer optimizer_named(const std::string& name, Draft& draft);

struct Batch {
  std::int64_t micro = 1, global = 1;
};

/// The batch of `data` data-parallel ranks: stated, or the Trainer's defaults, which are listed as
/// assumed. Throws UserError where the numbers do not fit together.
Batch trainer_batch(const TrainerSettings& settings, std::int64_t data, Draft& draft);

/// Gradients wait for the last of several passes: the Trainer runs the others in
/// accelerator.no_sync() (huggingface/transformers src/transformers/trainer.py). Not for DeepSpeed,
/// which decides itself.
void add_no_sync(const Batch& batch, std::int64_t data, Entries& entries);

/// The model and the sequence length of the settings, or what stands in for them, listed as
/// assumed.
void add_stand_ins(TrainerSettings& settings, Draft& draft);

/// The kernel of the settings, where the GPU has it, else PyTorch's own choice.
std::string attention_of(const TrainerSettings& settings, const GpuProfile& gpu);

/// Adapters and weights without a copy in fp32, as keys of `training`. Which adapters experts have
/// is noted.
void add_method(const TrainerSettings& settings, Entries& training, Draft& draft);

/// The images of each sequence, where the model has a tower: one, which is assumed.
void add_images(const TrainerSettings& settings, Entries& training, Draft& draft);

/// Parameters of fp32 beside products of 16 bits, as transformers loads them, which is assumed:
/// under FSDP (`shards`) ranks cast their shares, for accelerate hands it a MixedPrecision of that
/// type (huggingface/accelerate src/accelerate/utils/dataclasses.py, set_mixed_precision); else the
/// Trainer runs passes under autocast. Nothing where adapters alone are trained, or where
/// parameters have no copy in fp32.
void add_wide_parameters(const TrainerSettings& settings, const std::string& precision, bool shards,
                         Entries& training, Draft& draft);

/// `training.fusion` of modules of transformers, which launch their operations one by one unless a
/// compiler or Liger joins them, and the loss.
void add_kernels(const TrainerSettings& settings, bool is_compiled, Entries& training);

/// bf16, which is assumed, where nobody states a precision; `why` says who leaves it open.
std::string trainer_precision(const TrainerSettings& settings, const std::string& why,
                              Draft& draft);

/// The options of the importers of files that leave the batch to the Trainer.
std::vector<std::string_view> trainer_options();

}  // namespace stepsim
