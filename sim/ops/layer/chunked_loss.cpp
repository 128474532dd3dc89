// A loss that goes through its tokens chunk by chunk, so that logits of one chunk exist at a time.
//
// pytorch/torchtitan torchtitan/components/loss.py, ChunkedLossWrapper: within the forward pass each
// chunk has its product with the head, its loss and the backward pass of both. Gradients of its
// input go to an fp32 buffer for all tokens, which is cleared before and cast behind, and which the
// backward pass hands on. Gradients of the head's weight are added up over chunks, and reduced
// once. Kernels of the loss are those of training.cross_entropy.
#include <algorithm>

#include "sim/ops/layer/layers.hpp"
#include "sim/ops/style/style.hpp"

namespace stepsim {
namespace {

/// Whether gradients of a weight are added up by kernels of their own.
bool adds_by_kernels(const Pass& pass) {
  return !pass.training->fused_accumulation || pass.gathers_parameters;
}

/// Whether the item is work of a backward pass that runs here.
bool runs_at_once(const Pass& pass, const Item& item) {
  if (std::holds_alternative<GradientReady>(item)) return false;
  const auto* launch = std::get_if<Launch>(&item);
  return launch == nullptr || !pass.frozen || !launch->for_weights;
}

void append_backward(Items& items, const Pass& pass, const Items& backward) {
  std::ranges::copy_if(backward, std::back_inserter(items),
                       [&](const Item& item) { return runs_at_once(pass, item); });
}

}  // namespace

Op chunked_loss(const Pass& pass, const Transformer& model, std::int64_t rows) {
  const std::int64_t chunks = pass.training->loss_chunks;
  Pass chunk = pass;
  chunk.batch = 1;
  chunk.sequence = pass.tokens() / chunks;
  chunk.place.keeps_placeholders = false;
  const double inputs = static_cast<double>(pass.tokens() * model.hidden);
  const double to_fp32 = pass.element() + kFp32;
  Op op;
  op.name = "chunked cross entropy";
  op.calls = pass.style->linear_calls();
  op.forward.emplace_back(memory_bound("input gradients cleared", kFp32 * inputs));
  for (std::int64_t i = 0; i < chunks; ++i) {
    chunk.adds_gradients = i > 0 ? adds_by_kernels(pass) : pass.adds_gradients;
    const Op logits = column_linear(chunk, "logits", model.hidden, rows, false);
    const Op loss = output_head(chunk, model);
    append(op.forward, logits.forward);
    append(op.forward, loss.forward);
    append_backward(op.forward, pass, loss.backward);
    append_backward(op.forward, pass, logits.backward);
    op.forward.emplace_back(
        memory_bound("input gradient of a chunk", to_fp32 * inputs / static_cast<double>(chunks)));
    op.parameters = logits.parameters;
    op.weight_copies = logits.weight_copies;
    op.flops += logits.flops;
    // A chunk's logits, what the loss makes of them, and its gradient of the weight, which is a
    // tensor of its own whatever is sharded.
    const double weight_gradient = pass.frozen ? 0 : pass.element() * logits.parameters.front();
    op.scratch = logits.output + loss.saved + Bytes{kFp32 * inputs + weight_gradient};
  }
  op.forward.emplace_back(memory_bound("input gradients cast", to_fp32 * inputs));
  op.backward.emplace_back(GradientReady{op.parameters.front()});
  op.saved = Bytes{pass.element() * inputs};
  return op;
}

}  // namespace stepsim
