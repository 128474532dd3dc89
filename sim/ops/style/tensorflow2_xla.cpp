// BERT of TensorFlow 2's model garden with the XLA of 2020: taken as one kernel an operation.
//
// The model says itself that GELU, norms and the sums before them work in fp32
// (NVIDIA/DeepLearningExamples
// TensorFlow2/LanguageModeling/BERT/official/nlp/modeling/layers/transformer.py). Gradients of each
// micro-batch are taken out of the loss's scale before they are added
// (official/modeling/model_training_utils.py).
#include "sim/core/registry.hpp"
#include "sim/ops/style/style.hpp"

namespace stepsim {
namespace {

const Registered<Style> tensorflow2_xla{[] {
  Style style = eager_style();
  style.name = "tensorflow2-xla";
  style.description = "TensorFlow 2 with the XLA of 2020, BERT of its model garden";
  style.fp32_parts = {LayerPart::activation, LayerPart::residual, LayerPart::norm};
  style.gradient_passes = {GradientPass::unscale};
  style.fuses_to = style.compiles_to = {};
  return style;
}()};

}  // namespace
}  // namespace stepsim
