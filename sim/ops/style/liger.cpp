// Liger's kernels for eager PyTorch: norms, rotary positions and gated activations are one kernel
// each, and the rest is eager (linkedin/Liger-Kernel README.md).
//
// docs/how-to-add.md shows this file.
#include "sim/core/registry.hpp"
#include "sim/ops/style/kernels.hpp"

namespace stepsim {
namespace {

const Registered<Style> liger{[] {
  Style style = eager_style();
  style.name = "liger";
  style.description = "Liger: eager PyTorch with one kernel for norms, positions and activations";
  style.norm = library_norm;
  style.activation = joined_activation;
  style.rotary = joined_rotary;
  style.rotary_backward = joined_rotary_backward;
  return style;
}()};

}  // namespace
}  // namespace stepsim
