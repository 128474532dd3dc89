// Low-rank adapters of the two kinds of split linear layers.
#pragma once

#include <cstdint>
#include <string>

#include "sim/ops/layer/layers.hpp"

namespace stepsim {

/// An adapter beside a linear layer of this rank.
struct AdapterShape {
  std::string name;  ///< name of the linear layer
  /// widths of the linear layer, this rank's share where it is split
  std::int64_t in = 0, out = 0;
  bool needs_input_gradient = true;  ///< something before it is trained
  bool saves_input = true;           ///< true: no other op keeps its input already
};

/// The adapter beside a layer whose outputs are split over tensor ranks. Where it does not save its
/// input, another such adapter of the layer does.
Op column_adapter(const Pass& pass, const Lora& lora, const AdapterShape& shape);

/// The adapter beside a layer whose inputs are split over tensor ranks.
Op row_adapter(const Pass& pass, const Lora& lora, const AdapterShape& shape);

}  // namespace stepsim
