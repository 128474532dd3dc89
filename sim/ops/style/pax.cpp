// Pax: XLA's kernels, and rows of the tables of tokens and positions found as products of one-hot
// vectors with the tables (google/praxis praxis/layers/embedding_softmax.py, lookup_style matmul).
//
// What one iteration of a loop over layers gathers, or leaves to be reduced, for the next is copied
// into the loop's own buffers, as XLA does where it does not unroll the loop by two
// (xla_gpu_enable_while_loop_double_buffering).
#include "sim/core/registry.hpp"
#include "sim/ops/style/style.hpp"

namespace stepsim {
namespace {

const Registered<Style> pax{[] {
  Style style = xla_style();
  style.name = "pax";
  style.description = "Pax: as xla, with embeddings looked up by products and loops that copy";
  style.looks_up_by_product = true;
  style.copies_for_loop = true;
  return style;
}()};

}  // namespace
}  // namespace stepsim
