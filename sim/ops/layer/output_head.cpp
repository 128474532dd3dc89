// Vocabulary-parallel cross entropy in fp32, as a chain of element-wise kernels on the logits.
//
// Sources: NVIDIA/Megatron-LM megatron/core/tensor_parallel/cross_entropy.py. Bytes a logit,
// forward: cast to fp32 (2+4), transposed copy (4+4), maximum (4), subtract it (4+4), exponential
// (4+4), sum (4), divide (4+4), and a copy for the labels' lookup (4). Backward: scale by the loss
// gradient (4+4), cast back (4+2) with a transposed copy (2+2) and the labels' update (4). Its own
// fusion of these is off by default (cross_entropy_loss_fusion), so that `none` and `fused` are the
// same. Compiled, where the vocabulary is whole: one read for maximum and sum together
// (pytorch/pytorch torch/_inductor/config.py, online_softmax), backward a read and a write.
#include "sim/ops/layer/layers.hpp"

namespace stepsim {
namespace {

constexpr double kForwardBytesPerLogit = 46;
constexpr double kBackwardBytesPerLogit = 22;

/// Maximum, the labels' logits and the sum of exponentials: one fp32 number a token each.
void add_small_reductions(Items& items, const Pass& pass) {
  if (pass.tensor == 1) return;
  for (int i = 0; i < 3; ++i) {
    items.emplace_back(
        StartCollective{CollectiveOp::all_reduce, Bytes{4.0 * static_cast<double>(pass.tokens())}});
    items.emplace_back(Join{});
  }
}

}  // namespace

Op output_head(const Pass& pass, const Transformer& model) {
  const std::int64_t rows = padded_vocabulary(model.vocabulary, pass.tensor) / pass.tensor;
  const auto logits = static_cast<double>(pass.tokens() * rows);
  Op op;
  op.name = "cross entropy";
  op.loss = true;
  if (pass.fusion == Fusion::compiled && pass.tensor == 1) {
    const double one = pass.element() * logits;
    op.forward.emplace_back(memory_bound("cross entropy", one, MemoryRate::loss));
    op.backward.emplace_back(memory_bound("cross entropy backward", 2 * one, MemoryRate::loss));
    op.saved = Bytes{one};
    return op;
  }
  op.forward.emplace_back(
      memory_bound("cross entropy", kForwardBytesPerLogit * logits, MemoryRate::loss));
  add_small_reductions(op.forward, pass);
  op.backward.emplace_back(
      memory_bound("cross entropy backward", kBackwardBytesPerLogit * logits, MemoryRate::loss));
  // The fp32 softmax (Korthikanti et al. 2022, section 4.3). The 16-bit logits are given up when
  // the loss is known; backward turns the softmax into a gradient in place and casts it.
  op.saved = Bytes{4.0 * logits};
  return op;
}

Op class_loss(const Pass& pass, std::int64_t classes) {
  // As PyTorch's cross_entropy, a number of classes: cast (2+4), log-softmax (4+4); backward: clear
  // and set the labels' (4), log-softmax (8+4), cast (4+2).
  const auto logits = static_cast<double>(pass.batch * classes);
  Op op;
  op.name = "class loss";
  op.loss = true;
  op.forward.emplace_back(
      memory_bound("class loss", (pass.element() + 12) * logits, MemoryRate::loss));
  op.backward.emplace_back(
      memory_bound("class loss backward", (pass.element() + 20) * logits, MemoryRate::loss));
  op.saved = Bytes{4 * logits};
  return op;
}

}  // namespace stepsim
