// torch.compile for each layer alone, beside which the loss is eager, as torchtitan of 2024 has it
// (pytorch/torchtitan torchtitan/parallelisms/parallelize_llama.py, apply_compile).
#include "sim/core/registry.hpp"
#include "sim/ops/style/kernels.hpp"

namespace stepsim {
namespace {

const Registered<Style> compiled_layers{[] {
  Style style = compiled_style();
  style.name = "compiled-layers";
  style.description = "torch.compile of each layer alone, the loss is not compiled";
  style.loss = library_loss;
  style.compiles_to = style.name;
  return style;
}()};

}  // namespace
}  // namespace stepsim
