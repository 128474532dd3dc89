// The layers of hybrid models by Megatron-LM's options: mixers of Mamba-2, gated delta nets,
// attention, MLPs and experts in turns.
#pragma once

#include <cstdint>
#include <string>

#include "sim/import/megatron/megatron.hpp"

namespace stepsim {

/// The parts of all layers, a letter each as in `model.hybrid.pattern`; none where all layers have
/// attention and an MLP.
struct MegatronPattern {
  std::string letters;
  std::int64_t parts = 1;  ///< of a layer
  std::string mtp;         ///< parts of a depth of multi-token prediction, if there is one
  std::int64_t depths = 0;
  bool empty() const { return letters.empty(); }
  std::int64_t layers() const { return static_cast<std::int64_t>(letters.size()) / parts; }
};

/// Throws UserError where a layer is of a kind that cannot be said, and where depths of multi-token
/// prediction have no parts.
MegatronPattern megatron_pattern(MegatronOptions& options);

/// Layers of the model: as many as its pattern has, or else --num-layers.
std::int64_t megatron_layers(MegatronOptions& options);

/// Writes the model's `hybrid`. `rotary`: attention has rotary positions.
void write_megatron_hybrid(MegatronOptions& options, const MegatronPattern& pattern, bool rotary,
                           Draft& draft, Entries& entries);

}  // namespace stepsim
