// PaddlePaddle of 2020: one kernel an operation, each of which loads 16-bit tensors one element at
// a time.
//
// Mixed precision leaves the softmax in fp32, and GELU as it is in no list
// (python/paddle/fluid/contrib/mixed_precision/fp16_lists.py).
#include "sim/core/registry.hpp"
#include "sim/ops/style/style.hpp"

namespace stepsim {
namespace {

const Registered<Style> paddle{[] {
  Style style = eager_style();
  style.name = "paddle";
  style.description = "PaddlePaddle of 2020: 16-bit tensors loaded one element at a time";
  style.fp32_parts = {LayerPart::activation, LayerPart::softmax};
  style.scalar_loads = {MovingKernels::elementwise, MovingKernels::dropout, MovingKernels::norm,
                        MovingKernels::softmax};
  return style;
}()};

}  // namespace
}  // namespace stepsim
