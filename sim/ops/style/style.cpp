// From what a scenario says of its training to the style that runs it.
#include "sim/ops/style/style.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/core/error.hpp"
#include "sim/core/registry.hpp"
#include "sim/ops/style/transformer_engine.hpp"

namespace stepsim {
namespace {

/// Modules whose attention is eager are those of PyTorch, whoever's their kernels are.
bool has_own_modules(const Training& training) { return training.attention != kEagerAttention; }

/// What autocast leaves in fp32 where parameters are: norms and softmax are on its list, lookups in
/// tables on none, and a sum takes the wider of its types (pytorch/pytorch
/// aten/src/ATen/autocast_mode.h).
void leave_in_fp32(Style& style) {
  for (const LayerPart part : {LayerPart::residual, LayerPart::norm, LayerPart::softmax}) {
    if (std::ranges::find(style.fp32_parts, part) == style.fp32_parts.end())
      style.fp32_parts.push_back(part);
  }
}

}  // namespace

Precision Style::type_of(LayerPart part, Precision activations) const {
  const bool wide = std::ranges::find(fp32_parts, part) != fp32_parts.end();
  return wide && bytes_per_element(activations) < 4 ? Precision::fp32 : activations;
}

HostCalls Style::linear_calls() const {
  HostCalls calls = modules.linear;
  calls.engine_linears = engine_linears;
  return calls;
}

HostCalls Style::query_key_value_calls() const {
  HostCalls calls = linear_calls().times(modules.query_key_value_modules);
  calls.products = modules.query_key_value_modules - 1;
  return calls;
}

const Style& named_style(const Training& training) {
  const Style* style = Registry<Style>::find(training.fusion);
  if (style == nullptr) {
    throw UserError(fmt::format("training.fusion: '{}' is not a style: there are {}",
                                training.fusion, fmt::join(Registry<Style>::names(), ", ")));
  }
  return *style;
}

ModuleCalls modules_of(const Training& training) {
  return has_own_modules(training) ? named_style(training).modules : torch_modules();
}

Style style_of(const Training& training) {
  Style style = named_style(training);
  style.modules = modules_of(training);
  if (training.autocast) leave_in_fp32(style);
  if (training.transformer_impl == TransformerImpl::transformer_engine)
    use_transformer_engine(style);
  style.joins_bias_and_dropout &= training.bias_dropout_fusion;
  style.cross_entropy = training.cross_entropy;
  style.loss_metrics = training.loss_metrics;
  style.fused_qkv = training.fused_qkv;
  return style;
}

}  // namespace stepsim
