// Low-rank adapters of the two kinds of split linear layers.
#pragma once

#include <cstdint>
#include <string>

#include "sim/ops/layer/layers.hpp"

namespace stepsim {

/// An adapter beside a linear layer of this rank.
struct AdapterShape {
  std::string name;                  ///< of the linear layer
  std::int64_t in = 0, out = 0;      ///< of the linear layer, this rank's share where it is split
  bool needs_input_gradient = true;  ///< something before it is trained
  bool saves_input = true;           ///< its input is not kept by another op already
};

/// Beside a layer whose outputs are split over tensor ranks. An input that it does not save is
/// another such adapter's.
Op column_adapter(const Pass& pass, const Lora& lora, const AdapterShape& shape);

/// Beside a layer whose inputs are split over tensor ranks.
Op row_adapter(const Pass& pass, const Lora& lora, const AdapterShape& shape);

}  // namespace stepsim
