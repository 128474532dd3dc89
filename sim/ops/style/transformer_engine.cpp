// Linear modules of Transformer Engine, in whatever style the rest is.
//
// They keep an empty gradient for each shape of weight (NVIDIA/TransformerEngine
// transformer_engine/pytorch/module/base.py, get_dummy_wgrad), and hand the input that they have
// gathered to an adapter, which therefore is not quantised before that
// (transformer_engine/pytorch/module/layernorm_linear.py, return_layernorm_output_gathered).
#include "sim/ops/style/transformer_engine.hpp"

namespace stepsim {

void use_transformer_engine(Style& style) {
  style.keeps_placeholders = true;
  style.hands_on_gathered = true;
  style.quantises_in_norms = true;
  style.engine_linears = 1;
  if (style.with_engine != nullptr) style.with_engine(style);
}

}  // namespace stepsim
