// What a recording shows of the model: layers, and widths where sizes of tensors were recorded.
#pragma once

#include <cstdint>
#include <optional>

#include "sim/import/recording/step_counts.hpp"

namespace stepsim {

enum class RecordedKind { unknown, transformer, resnet, dlrm, mlp };

/// 0 and absent: the recording does not say.
struct RecordedModel {
  RecordedKind kind = RecordedKind::unknown;
  std::int64_t layers = 0, hidden = 0, ffn = 0, heads = 0, kv_heads = 0, head_dim = 0;
  std::int64_t vocabulary = 0, positions = 0;
  std::int64_t convolutions = 0, image = 0, classes = 0;
  std::int64_t blocks[4] = {0, 0, 0, 0};  ///< of a residual network's stages
  std::optional<bool> gated_mlp, rms_norm, bias, dropout;
  std::int64_t micro_batch = 0, sequence_length = 0;
  bool has_experts = false;
  double parameters = 0;  ///< whose gradients a step reduces
};

/// `passes` is how many forward passes a step has.
RecordedModel model_in(const StepCounts& counts, int passes);

}  // namespace stepsim
