// XLA's kernels on a GPU without its softmax fusion: a fusion may end in a reduction over rows, and
// what needs its result is another kernel, which reads the inputs again (openxla/xla
// xla/service/gpu); products, and norms, softmax and attention of a library, are calls with which
// nothing is fused.
//
// A norm forward: the mean, with the sum that makes the input; the variance (1); the result (2).
// Backward: the gradient of the variance (2), that of the mean, which needs it (2), the input's (3,
// and the residual's), the weights' (2). RMSNorm has one reduction in each direction (google/praxis
// praxis/layers/normalizations.py).
//
// Softmax forward: one kernel reads the scores for their largest, one for the sum of exponentials,
// and one for the result, with scale, mask and casts inside; backward one reads result and gradient
// for the sum of their products, one for the scores' gradient (google/praxis
// praxis/layers/attentions.py, jax.nn.softmax). Transformer Engine's softmax is Megatron-LM's.
//
// The loss: one read for the maximum, one for the sum and one for the labels' logits.
#include "sim/core/registry.hpp"
#include "sim/ops/style/kernels.hpp"

namespace stepsim {
namespace {

/// A kernel for each reduction that needs the one before, and one behind them. The first one's is
/// the kernel that made the input, where XLA made that.
void xla_norm(Op& op, const Pass& pass, const NormShape& n) {
  const double one = pass.element() * n.elements;
  const auto read = [&](const char* step, double tensors) {
    return memory_bound(n.name + step, tensors * one, MemoryRate::norm);
  };
  if (n.behind_product) op.forward.emplace_back(read(" first sum", 1));
  if (!n.rms) op.forward.emplace_back(read(" variance", 1));
  op.forward.emplace_back(read("", 2));
  op.backward.emplace_back(read(" dgrad sum", 2));
  if (!n.rms) op.backward.emplace_back(read(" dgrad mean", 2));
  op.backward.emplace_back(read(" dgrad", n.joins_residual ? 4 : 3));
  op.backward.emplace_back(for_weights(read(" wgrad", 2)));
  op.saved = Bytes{one};
}

void xla_softmax(Op& op, const Pass& pass, const AttentionShape& a) {
  const Scores s(pass, a);
  const auto kernel = [](const char* name, double bytes) {
    return memory_bound(name, bytes, MemoryRate::softmax);
  };
  op.forward.emplace_back(kernel("softmax maximum", s.one + s.bias));
  op.forward.emplace_back(kernel("softmax sum", s.one + s.bias));
  op.forward.emplace_back(kernel("softmax", 2 * s.one + s.bias + s.dropped));
  op.backward.emplace_back(kernel("softmax gradient sum", 2 * s.one + s.mask));
  op.backward.emplace_back(kernel("softmax backward", 3 * s.one + s.mask));
  op.saved_scores = Bytes{s.one + s.dropped};
}

LossTraffic xla_loss(CrossEntropy library, double element, bool whole) {
  if (!is_open(library)) return library_loss(library, element, whole);
  return {3 * element, 2 * element, element, 3};
}

/// Norms and softmax are calls of Transformer Engine's kernels.
void xla_with_engine(Style& style) {
  style.norm = library_norm;
  style.adds_residual_gradient_in_norm = false;
  style.softmax = softmax_by_kernel;
}

const Registered<Style> xla_kernels{xla_style()};

}  // namespace

Style xla_style() {
  return {
      .name = "xla",
      .description = "XLA: chains that end at each reduction, behind which inputs are read again",
      .norm = xla_norm,
      .adds_residual_gradient_in_norm = true,
      .activation = joined_activation,
      .dropout = library_dropout(),
      .softmax = xla_softmax,
      .row_softmax = library_row_softmax(),
      .rotary = joined_rotary,
      .loss = xla_loss,
      // Products are called without a bias, which what follows adds; a library's attention does
      // not.
      .adds_qkv_bias_behind = is_fused_attention,
      .moves_heads = true,
      .joins_chains = true,
      .finds_twins = true,
      .scatters_products = true,
      .modules = torch_modules(),
      .with_engine = xla_with_engine};
}

}  // namespace stepsim
