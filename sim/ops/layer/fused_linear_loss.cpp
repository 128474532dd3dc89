// Losses that take the product of the head in, so that no tensor of all logits exists.
//
// Liger's (Hsu et al. 2024, arXiv 2410.10989, section 3.2; linkedin/Liger-Kernel
// src/liger_kernel/ops/fused_linear_cross_entropy.py) cuts T tokens into chunks, so that the logits
// of one are about as large as its T x H input: a power of two of at least T / (V / H) tokens, V
// and H rounded up. The forward pass computes a chunk's logits, puts their gradients in their place
// (one kernel that reads them for maximum and sum, and reads and writes them for the gradient), and
// multiplies those for the gradients of input and weight, which it keeps. The weight's is read and
// written again for each chunk, behind a product of too few tokens to hide that (torch.addmm). The
// host reads how many labels count. The backward pass scales both gradients, after the host has
// read whether that changes anything: it does where a loss is divided by the labels of all
// micro-batches.
//
// Cut cross entropy (Wijmans et al. 2024, arXiv 2411.09009, algorithms 1 to 3) multiplies and sums
// exponentials in one kernel, and keeps its input and one number a token. Its backward pass
// multiplies again, and skips products of blocks whose softmax is below the precision of 16 bits.
// Forward it takes 46.4 ms and backward 89.3 ms on an A100 (8192 tokens of Gemma 2 2B;
// apple/ml-cross-entropy@18e76ad README.md): what follows the repeated product takes as long as
// that share of the two products of gradients at the forward pass's rate. It is the softmax of a
// trained model; an untrained one skips less.
#include <algorithm>
#include <bit>
#include <cmath>

#include "sim/ops/layer/layers.hpp"
#include "sim/ops/style/style.hpp"

namespace stepsim {
namespace {

constexpr double kCutForward = 46.4, kCutBackward = 89.3;  // ms
constexpr double kCutShare = (kCutBackward - kCutForward) / (2 * kCutForward);

/// T tokens of width H times a table of V rows.
struct Head {
  std::int64_t tokens, hidden, rows;
  double input() const { return static_cast<double>(tokens * hidden); }
  double weight() const { return static_cast<double>(rows * hidden); }
};

std::int64_t rounded_up(std::int64_t value, std::int64_t unit) { return (value + unit - 1) / unit; }

std::int64_t chunk_tokens(const Head& h) {
  const auto least = static_cast<std::uint64_t>(rounded_up(h.tokens, rounded_up(h.rows, h.hidden)));
  return std::min(static_cast<std::int64_t>(std::bit_ceil(least)), h.tokens);
}

/// The pass as gradients of the weight are made, which have the type of the weight.
Pass of_weight(Pass pass) {
  if (pass.casts_weights) pass.precision = Precision::fp32;
  pass.casts_weights = false;
  return pass;
}

void add_liger(Op& op, const Pass& pass, const Head& h) {
  const double element = pass.element(), gradient = of_weight(pass).element();
  const double weight = pass.frozen ? 0 : gradient * h.weight();
  const double kept = element * h.input() + weight;
  op.forward.emplace_back(HostRead{});
  op.forward.emplace_back(memory_bound(op.name + " gradients cleared", kept));
  const std::int64_t chunk = chunk_tokens(h);
  for (std::int64_t begin = 0; begin < h.tokens; begin += chunk) {
    const std::int64_t tokens = std::min(chunk, h.tokens - begin);
    const double logits = element * static_cast<double>(tokens * h.rows);
    op.forward.emplace_back(gemm(op.name + " logits", pass, tokens, h.rows, h.hidden));
    op.forward.emplace_back(memory_bound(op.name, 3 * logits, MemoryRate::loss));
    op.forward.emplace_back(gemm(op.name + " dgrad", pass, tokens, h.hidden, h.rows));
    if (pass.frozen) continue;
    op.forward.emplace_back(gemm(op.name + " wgrad", pass, h.hidden, h.rows, tokens, true));
    op.forward.emplace_back(memory_bound(op.name + " wgrad sum", 2 * weight));
  }
  op.backward.emplace_back(HostRead{});
  op.backward.emplace_back(memory_bound(op.name + " backward", 2 * element * h.input()));
  if (!pass.frozen)
    op.backward.emplace_back(for_weights(memory_bound(op.name + " weight backward", 2 * weight)));
  op.saved = Bytes{kept};
  // Held at the end of the forward pass, next to all that is held when the backward one begins.
  op.scratch = Bytes{element * static_cast<double>(chunk * h.rows)};
}

void add_cut(Op& op, const Pass& pass, const Head& h) {
  const auto skipped = [](std::int64_t tokens) {
    return std::max<std::int64_t>(std::llround(kCutShare * static_cast<double>(tokens)), 1);
  };
  const double input = pass.element() * h.input();
  op.forward.emplace_back(memory_bound(op.name + " label logits", 2 * input));
  op.forward.emplace_back(gemm(op.name, pass, h.tokens, h.rows, h.hidden));
  op.backward.emplace_back(gemm(op.name + " again", pass, h.tokens, h.rows, h.hidden));
  op.backward.emplace_back(gemm(op.name + " dgrad", pass, skipped(h.tokens), h.hidden, h.rows));
  op.backward.emplace_back(
      gemm(op.name + " wgrad", pass, h.hidden, h.rows, skipped(h.tokens), true));
  op.saved_input = Bytes{pass.frozen ? 0 : input};
  op.saved = Bytes{input + kFp32 * static_cast<double>(h.tokens)};
  op.scratch = Bytes{pass.frozen ? 0 : pass.element() * h.weight()};
}

}  // namespace

Op fused_linear_loss(const Pass& pass, std::int64_t hidden, std::int64_t rows) {
  const Head head{pass.tokens(), hidden, rows};
  const bool cuts = pass.style->cross_entropy == CrossEntropy::cut_cross_entropy;
  Op op;
  op.name = cuts ? "cut cross entropy" : "fused linear cross entropy";
  op.calls = pass.style->linear_calls();
  op.parameters = {head.weight()};
  op.flops = Flops{2 * head.input() * static_cast<double>(rows)};
  add_weight_cast(op.forward, pass, op.name, head.weight(), true);
  if (pass.casts_weights) op.weight_copies = Bytes{pass.element() * head.weight()};
  cuts ? add_cut(op, pass, head) : add_liger(op, pass, head);
  // Cut cross entropy makes the weight's gradient in the type of its products.
  add_gradient_sum(op.backward, cuts ? pass : of_weight(pass), op.name, head.weight());
  op.backward.emplace_back(GradientReady{head.weight()});
  return op;
}

}  // namespace stepsim
