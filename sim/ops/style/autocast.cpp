// Eager PyTorch under autocast, where attention is written out: its softmax works in fp32, between
// casts (pytorch/pytorch aten/src/ATen/autocast_mode.h). Hugging Face's Llama casts for itself.
#include "sim/core/registry.hpp"
#include "sim/ops/style/style.hpp"

namespace stepsim {
namespace {

const Registered<Style> autocast{[] {
  Style style = eager_style();
  style.name = "autocast";
  style.description = "as none, with eager attention's softmax in fp32, between casts";
  style.fp32_parts = {LayerPart::softmax};
  return style;
}()};

}  // namespace
}  // namespace stepsim
