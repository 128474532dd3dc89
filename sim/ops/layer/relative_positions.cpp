// Relative positions as a bias on attention scores, from buckets of distances.
//
// Raffel et al. 2019 (arXiv 1910.10683), section 2.1; kernels as in huggingface/transformers
// src/transformers/models/t5/modeling_t5.py, T5Attention.compute_bias, and NVIDIA/Megatron-LM
// megatron/core/models/common/embeddings/relative_pos_embedding.py: the first layer of a stack
// computes the bias, the others take it from there.
#include "sim/ops/layer/layers.hpp"

namespace stepsim {
namespace {

// For each pair of query and key a chain of element-wise kernels on int64, with the logarithm in
// fp32: difference (8 written), its sign and that as an integer (8+1, 1+8), times the buckets
// (8+8), sum (16+8), absolute value (8+8), comparison (8+1), cast (8+4), three steps of the
// logarithm (3 x 8), cast (4+8), sum (8+8), limit (8 written, 16+8), choice (17+8) and sum (16+8).
constexpr double kBytesPerPair = 8 + 9 + 9 + 16 + 24 + 16 + 9 + 12 + 24 + 12 + 16 + 32 + 25 + 24;

}  // namespace

Op relative_positions(const Pass& pass, std::int64_t buckets, std::int64_t heads) {
  const double pairs = static_cast<double>(pass.sequence) * static_cast<double>(pass.sequence);
  const double bias = pass.element() * pairs * static_cast<double>(heads);
  Op op;
  op.name = "relative positions";
  op.parameters = {static_cast<double>(buckets * heads)};
  op.forward.emplace_back(memory_bound("position buckets", kBytesPerPair * pairs));
  op.forward.emplace_back(memory_bound("position bias lookup", 8 * pairs + bias));
  op.backward.emplace_back(for_weights(memory_bound("position table gradient", 8 * pairs + bias)));
  op.backward.emplace_back(GradientReady{op.parameters.front()});
  op.output = Bytes{bias};
  op.saved = Bytes{8 * pairs + bias};  // the buckets, and what all layers read
  return op;
}

}  // namespace stepsim
