// Eager PyTorch 1.5 of March 2020 with the layer norm of Apex: dropout (pytorch/pytorch pull
// request 33879 is later) and the norm load 16-bit tensors one element at a time.
#include "sim/core/registry.hpp"
#include "sim/ops/style/style.hpp"

namespace stepsim {
namespace {

const Registered<Style> pytorch_2020{[] {
  Style style = eager_style();
  style.name = "pytorch-2020";
  style.description = "eager PyTorch 1.5 with Apex: old kernels for dropout and norms";
  style.scalar_loads = {MovingKernels::dropout, MovingKernels::norm};
  return style;
}()};

}  // namespace
}  // namespace stepsim
