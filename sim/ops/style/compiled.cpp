// Inductor's kernels, those that torch.compile makes of a layer: chains of element-wise operations
// and a reduction over rows become one kernel between matrix products (pytorch/pytorch
// torch/_inductor).
//
// A norm behind a residual sum shares a kernel with it: output and residual read, sum and normed
// written; backward the norm's gradient, the residual's and the sum read, and a gradient each
// written for the sum and for what dropout leaves of it. Bias, mask, softmax and dropout of scores
// are one kernel that reads them whole. Rotary positions backward are part of the kernel that joins
// the gradients.
//
// The loss, where the vocabulary is whole and the kernels are not a library's own, reads the logits
// once for maximum and sum together (torch/_inductor/config.py, online_softmax); backward it reads
// and writes: as xentropy.
#include "sim/core/registry.hpp"
#include "sim/ops/style/kernels.hpp"

namespace stepsim {
namespace {

void compiled_norm(Op& op, const Pass& pass, const NormShape& n) {
  const double one = pass.element() * n.elements;
  const auto kernel = [&](const char* what, double tensors) {
    return memory_bound(n.name + what, tensors * one, MemoryRate::norm);
  };
  op.saved = Bytes{one};
  op.forward.emplace_back(kernel("", 2));
  op.backward.emplace_back(kernel(" dgrad", n.joins_residual ? 4 : 3));
  op.backward.emplace_back(for_weights(kernel(" wgrad", 2)));
}

void compiled_softmax(Op& op, const Pass& pass, const AttentionShape& a) {
  const Scores s(pass, a);
  op.forward.emplace_back(
      memory_bound("softmax", 2 * s.one + s.bias + s.dropped, MemoryRate::softmax));
  op.backward.emplace_back(
      memory_bound("softmax backward", 3 * s.one + s.mask, MemoryRate::softmax));
  op.saved_scores = Bytes{s.one + s.dropped};
}

LossTraffic compiled_loss(CrossEntropy library, double element, bool whole) {
  const bool compiled = whole && is_open(library);
  return library_loss(compiled ? CrossEntropy::xentropy : library, element, whole);
}

const Registered<Style> compiled_kernels{compiled_style()};

}  // namespace

Style compiled_style() {
  return {.name = "compiled",
          .description = "torch.compile: norms with what stands before them, too",
          .norm = compiled_norm,
          .adds_residual_gradient_in_norm = true,
          .joins_residual_and_norm = true,
          .activation = joined_activation,
          .dropout = library_dropout(),
          .softmax = compiled_softmax,
          .row_softmax = library_row_softmax(),
          .rotary = joined_rotary,
          .loss = compiled_loss,
          .joins_chains = true,
          .finds_twins = true,
          .modules = torch_modules(),
          .compiles_to = "compiled"};
}

}  // namespace stepsim
