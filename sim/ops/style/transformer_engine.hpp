// What Transformer Engine's linear modules change in a style.
#pragma once

#include "sim/ops/style/style.hpp"

namespace stepsim {

void use_transformer_engine(Style& style);

}  // namespace stepsim
