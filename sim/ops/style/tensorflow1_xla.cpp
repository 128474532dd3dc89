// BERT's script for TensorFlow 1 with the XLA of 2019 and 2020, which ends a kernel at every
// reduction and at every matrix product: taken as one kernel an operation.
//
// Types and what is done to gradients are those of tensorflow1.cpp.
#include "sim/core/registry.hpp"
#include "sim/ops/style/style.hpp"

namespace stepsim {
namespace {

const Registered<Style> tensorflow1_xla{[] {
  Style style = eager_style();
  style.name = "tensorflow1-xla";
  style.description =
      "TensorFlow 1 with the XLA of 2020, BERT: gradients clipped in each micro-batch";
  style.fp32_parts = {LayerPart::activation, LayerPart::residual, LayerPart::norm};
  style.gradient_passes = {GradientPass::unscale, GradientPass::check, GradientPass::clip};
  style.fuses_to = style.compiles_to = {};
  return style;
}()};

}  // namespace
}  // namespace stepsim
