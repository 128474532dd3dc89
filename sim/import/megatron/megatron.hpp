// A run of Megatron-LM by its options, wherever they come from.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/import/draft.hpp"
#include "sim/import/import_options.hpp"
#include "sim/import/megatron/megatron_options.hpp"
#include "sim/import/script/launchers.hpp"

namespace stepsim {

struct MegatronSource {
  std::string title;              ///< of the draft
  std::vector<PlacedWord> words;  ///< options and their values
  PlacedWord program;             ///< the file that has the options; "" where it is not known
  LaunchedGpus gpus;
  std::string model;  ///< a scenario's `model`; "": as the options describe it
};

/// Throws UserError where an option is missing or cannot be said.
Draft draft_of_megatron(const MegatronSource& source, const ImportOptions& options);

/// Whether layers have experts: --num-experts 0 is Megatron-LM's way to say that they have none.
bool has_megatron_experts(MegatronOptions& options);

/// Whether rotary positions have fused kernels: of positions `rope` alone (NVIDIA/Megatron-LM
/// megatron/training/arguments.py), and of latent attention YaRN's alone
/// (megatron/core/transformer/transformer_config.py). True where there are none.
bool joins_rotary(MegatronOptions& options);

/// Writes the scenario's `model`. `program` is the file that has the options; "" where it is not
/// known. Throws UserError where an option is missing, or the model is none that can be said.
void write_megatron_model(MegatronOptions& options, const PlacedWord& program, Draft& draft);

/// `training.optimizer`.
std::string megatron_optimizer(MegatronOptions& options);
/// Whether the optimizer's old name says that matrices are dealt out to ranks.
bool is_layer_wise(MegatronOptions& options);
/// Adds what else is said of the optimizer to `training`.
void add_megatron_optimizer(MegatronOptions& options, Entries& training, Draft& draft);
/// Adds recipes of fp8 and fp4, what is gathered in them, and layers that stay in bf16.
void add_megatron_quantisation(MegatronOptions& options, Entries& training, Draft& draft);

/// Ranks that experts are dealt to, and those that share each of them and each other layer.
struct MegatronExperts {
  std::int64_t degree = 1, tensor = 1, tensor_of_layers = 1;
};

/// Writes `parallelism.expert`. Throws UserError where an option cannot be said.
void write_megatron_experts(MegatronOptions& options, const MegatronExperts& experts, Draft& draft);

/// Notes a --spec of layers that the other options do not describe: all but Megatron-LM's own of
/// hybrids, whose pattern says the rest (megatron/core/models/mamba/mamba_layer_specs.py).
void note_megatron_spec(MegatronOptions& options, Draft& draft);

/// Writes `parallelism.pipeline` of two stages and more. Throws UserError where layers cannot be
/// dealt out as stated.
void write_megatron_pipeline(MegatronOptions& options, Draft& draft);

/// Whether stages of a pipeline have several chunks each.
bool has_megatron_chunks(MegatronOptions& options);

}  // namespace stepsim
