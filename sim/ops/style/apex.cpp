// Hand-written kernels with the layer norm of Apex, which loads 16-bit tensors one element at a
// time.
#include "sim/core/registry.hpp"
#include "sim/ops/style/style.hpp"

namespace stepsim {
namespace {

const Registered<Style> apex{[] {
  Style style = fused_style();
  style.name = "apex";
  style.description =
      "as fused, with Apex's layer norm, which loads 16-bit tensors one element at a time";
  style.scalar_loads = {MovingKernels::norm};
  return style;
}()};

}  // namespace
}  // namespace stepsim
