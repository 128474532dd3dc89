// Cross entropy on the logits of this rank's part of the vocabulary; style/losses.cpp has what each
// library's moves.
//
// A loss that needs all logits of a token has them gathered by DTensor where ranks split them, and
// each rank computes all of it; backward a rank copies what is its own (pytorch/pytorch
// torch/distributed/tensor/parallel/style.py, ColwiseParallel with output_layouts=Replicate()).
//
// A cap of the logits is three kernels before it, and three behind it backward, unless a compiler
// joins them: divided, tanh, multiplied (huggingface/transformers
// src/transformers/models/gemma2/modeling_gemma2.py, Gemma2ForCausalLM); the tanh is kept.
#include "sim/ops/layer/layers.hpp"
#include "sim/ops/layer/tensor_collective.hpp"
#include "sim/ops/style/kernels.hpp"

namespace stepsim {
namespace {

bool gathers_logits(const Pass& pass) {
  return pass.tensor > 1 && needs_whole_tokens(pass.style->cross_entropy);
}

LossTraffic traffic_of(const Pass& pass) {
  const bool whole = pass.tensor == 1 || gathers_logits(pass);
  return pass.style->loss(pass.style->cross_entropy, pass.element(), whole);
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
  const double own = gathered.bytes() / static_cast<double>(gathers ? pass.tensor : 1);
  const bool caps = model.logit_cap && !pass.style->joins_chains;
  if (caps) add_steps(op.forward, "logits cap", own, {2, 2, 2});
  if (gathers) {
    add_tensor_collective(op.forward, CollectiveOp::all_gather, gathered);
    op.forward.emplace_back(memory_bound("logits gathered", 2 * gathered.bytes()));
  }
  op.forward.emplace_back(
      memory_bound("cross entropy", traffic.forward * logits, MemoryRate::loss));
  add_small_exchanges(op.forward, pass, traffic.exchanges);
  const double metric = metric_traffic(pass.element());
  for (int i = 0; i < pass.style->loss_metrics; ++i)
    op.forward.emplace_back(memory_bound("loss metric", metric * logits, MemoryRate::loss));
  op.backward.emplace_back(
      memory_bound("cross entropy backward", traffic.backward * logits, MemoryRate::loss));
  if (gathers) op.backward.emplace_back(memory_bound("own logits' gradient", 2 * own));
  if (caps) add_steps(op.backward, "logits cap backward", own, {2, 3, 2});
  op.saved = Bytes{traffic.saved * logits + (caps ? own : 0)};
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
