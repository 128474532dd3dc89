// MaxText: XLA's kernels, and rows of the tables of tokens and positions found as products of
// one-hot vectors with the tables (use_iota_embed).
#include "sim/core/registry.hpp"
#include "sim/ops/style/style.hpp"

namespace stepsim {
namespace {

const Registered<Style> maxtext{[] {
  Style style = xla_style();
  style.name = "maxtext";
  style.description = "MaxText: as xla, with embeddings looked up by products";
  style.looks_up_by_product = true;
  return style;
}()};

}  // namespace
}  // namespace stepsim
