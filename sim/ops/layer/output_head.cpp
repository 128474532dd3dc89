// Cross entropy on the logits of this rank's part of the vocabulary, as each library computes it.
//
// Bytes a logit, 2 for 16-bit ones and 4 for fp32:
// - megatron (NVIDIA/Megatron-LM megatron/core/tensor_parallel/cross_entropy.py), a chain of
//   element-wise kernels. Forward: cast to fp32 (2+4), maximum (4), subtract it (4+4), exponential
//   (4+4), sum (4), divide (4+4). Backward: scale by the loss gradient (4+4), cast back (4+2).
//   Labels are transposed to the logits' layout, not these, and look up and update one logit a
//   token.
// - torch (pytorch/pytorch aten/src/ATen/native/LossNLL.cpp; autocast runs it in fp32). Forward:
//   cast (2+4), log-softmax (4+4). Backward: the labels' gradient cleared (4), log-softmax
//   backward (4+4+4), cast back (4+2).
// - xentropy (NVIDIA/apex apex/contrib/csrc/xentropy, Dao-AILab/flash-attention csrc/xentropy).
//   Forward: read (2). Backward: read and write (2+2).
// - transformer_engine (NVIDIA/TransformerEngine
//   transformer_engine/common/triton/cross_entropy.py), gradients in place of the logits. Forward:
//   maximum and sum (2), gradients (2+2). Backward: scale by the loss gradient (2+2).
// What is kept: the fp32 result of those that are not fused (of the softmax, Korthikanti et al.
// 2022, section 4.3; the 16-bit logits are given up when the loss is known, and backward turns the
// softmax into a gradient in place and casts it), or the logits, in whose place the gradients come.
//
// Compiled by torch.compile where the vocabulary is whole and the kernels are not a library's own:
// one read for maximum and sum together (pytorch/pytorch torch/_inductor/config.py,
// online_softmax), backward a read and a write: as xentropy. By XLA, one read for the maximum, one
// for the sum and one for the labels' logits. Megatron-LM's own fusion is off by
// default (cross_entropy_loss_fusion), so that fusion `none` and `fused` are the same.
//
// A loss that needs all logits of a token has them gathered by DTensor where ranks split them, and
// each rank computes all of it; backward a rank copies what is its own (pytorch/pytorch
// torch/distributed/tensor/parallel/style.py, ColwiseParallel with output_layouts=Replicate()).
#include "sim/core/error.hpp"
#include "sim/ops/layer/layers.hpp"
#include "sim/ops/layer/tensor_collective.hpp"

namespace stepsim {
namespace {

/// Bytes a logit.
struct LossTraffic {
  double forward, backward, saved;
  int exchanges;  ///< between ranks that split the vocabulary: one fp32 number a token each
};

LossTraffic traffic_of(CrossEntropy kind, double element) {
  constexpr double kFp32 = 4;
  const double cast = element + kFp32;
  switch (kind) {
    case CrossEntropy::megatron:
      return {cast + 8 * kFp32, 2 * kFp32 + cast, kFp32, 3};
    case CrossEntropy::torch:
      return {cast + 2 * kFp32, 4 * kFp32 + cast, kFp32, 0};
    case CrossEntropy::xentropy:
      return {element, 2 * element, element, 0};
    case CrossEntropy::transformer_engine:
      return {3 * element, 2 * element, element, 1};
  }
  throw InternalError("a cross entropy without kernels");
}

bool is_open(CrossEntropy kind) {
  return kind == CrossEntropy::megatron || kind == CrossEntropy::torch;
}

bool gathers_logits(const Pass& pass) {
  return pass.tensor > 1 &&
         (pass.loss == CrossEntropy::torch || pass.loss == CrossEntropy::xentropy);
}

LossTraffic traffic_of(const Pass& pass) {
  const double element = pass.element();
  if (is_open(pass.loss) && pass.fusion == Fusion::xla)
    return {3 * element, 2 * element, element, 3};
  const bool whole = pass.tensor == 1 || gathers_logits(pass);
  const bool compiled = pass.fusion == Fusion::compiled && whole && !pass.eager_loss;
  return traffic_of(is_open(pass.loss) && compiled ? CrossEntropy::xentropy : pass.loss, element);
}

/// Maximum, the labels' logits and the sum of exponentials; or all that ranks must know at once.
void add_small_exchanges(Items& items, const Pass& pass, int exchanges) {
  if (pass.tensor == 1) return;
  const Bytes of_tokens{4.0 * static_cast<double>(pass.tokens())};
  for (int i = 0; i < exchanges; ++i)
    add_tensor_collective(items, CollectiveOp::all_reduce, of_tokens);
}

}  // namespace

Op output_head(const Pass& pass, const Transformer& model) {
  const bool gathers = gathers_logits(pass);
  const std::int64_t rows = vocabulary_rows(pass, model.vocabulary) * (gathers ? pass.tensor : 1);
  const auto logits = static_cast<double>(pass.tokens() * rows);
  const LossTraffic traffic = traffic_of(pass);
  Op op;
  op.name = "cross entropy";
  op.loss = true;
  const Bytes gathered{pass.element() * logits};
  if (gathers) {
    add_tensor_collective(op.forward, CollectiveOp::all_gather, gathered);
    op.forward.emplace_back(memory_bound("logits gathered", 2 * gathered.bytes()));
  }
  op.forward.emplace_back(
      memory_bound("cross entropy", traffic.forward * logits, MemoryRate::loss));
  add_small_exchanges(op.forward, pass, traffic.exchanges);
  // Metrics know nothing of the loss: PyTorch's cross entropy again, forward only
  // (mosaicml/composer composer/metrics/nlp.py, LanguageCrossEntropy).
  const double metric = traffic_of(CrossEntropy::torch, pass.element()).forward;
  for (int i = 0; i < pass.loss_metrics; ++i)
    op.forward.emplace_back(memory_bound("loss metric", metric * logits, MemoryRate::loss));
  op.backward.emplace_back(
      memory_bound("cross entropy backward", traffic.backward * logits, MemoryRate::loss));
  if (gathers) {
    const double own = gathered.bytes() / static_cast<double>(pass.tensor);
    op.backward.emplace_back(memory_bound("own logits' gradient", 2 * own));
  }
  op.saved = Bytes{traffic.saved * logits};
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
