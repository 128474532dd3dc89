// TensorFlow 1.15 without XLA, as google-research/bert and NVIDIA's copy of it run.
//
// Operations without a kernel of their own are composed (composed.cpp). In mixed precision GELU,
// norms and the sums before them work in fp32, for they follow Pow and Mean
// (tensorflow/core/grappler/optimizers/auto_mixed_precision_lists.h). The script takes each
// micro-batch's gradients out of the loss's scale, looks for infinities, clips them by their norm
// and adds them, each an operation (NVIDIA/DeepLearningExamples
// TensorFlow/LanguageModeling/BERT/optimization.py: LossScaleOptimizer, is_finite,
// clip_by_global_norm, assign_add).
#include "sim/core/registry.hpp"
#include "sim/ops/style/composed.hpp"

namespace stepsim {
namespace {

const Registered<Style> tensorflow1{[] {
  Style style = eager_style();
  style.name = "tensorflow1";
  style.description = "TensorFlow 1 without XLA, BERT: a kernel for each elementary operation";
  style.norm = composed_norm;
  style.activation = composed_activation;
  style.dropout = composed_dropout();
  style.row_softmax = composed_row_softmax();
  style.fp32_parts = {LayerPart::activation, LayerPart::residual, LayerPart::norm};
  style.gradient_passes = {GradientPass::unscale, GradientPass::check, GradientPass::clip};
  style.fuses_to = style.compiles_to = {};
  return style;
}()};

}  // namespace
}  // namespace stepsim
