// Fused attention: the sequences and heads of published charts and of grouped queries.
#include <algorithm>

#include "calib/harness/points.hpp"

namespace stepsim::calib {

std::vector<Point> attention_points() {
  // 16384 tokens and a hidden size of 2048 are those of FlashAttention's charts
  // (Dao-AILab/flash-attention, README.md), so that the two can be compared.
  constexpr std::int64_t kTokens = 16384, kHidden = 2048;
  std::vector<Point> points;
  for (const AttentionPass pass : {AttentionPass::forward, AttentionPass::backward}) {
    for (const bool causal : {true, false})
      for (const std::int64_t head_dim : {64, 128})
        for (std::int64_t sequence = 512; sequence <= kTokens; sequence *= 2) {
          const std::int64_t heads = kHidden / head_dim;
          points.push_back(AttentionPoint{Precision::bf16, pass, causal, kTokens / sequence, heads,
                                          heads, sequence, head_dim});
        }
    // A micro-batch of one sequence with grouped queries, split by tensor parallelism.
    for (const std::int64_t heads : {8, 16, 32, 64})
      for (std::int64_t sequence = 1024; sequence <= 32768; sequence *= 2)
        points.push_back(AttentionPoint{Precision::bf16, pass, true, 1, heads,
                                        std::max<std::int64_t>(heads / 8, 1), sequence, 128});
  }
  return points;
}

}  // namespace stepsim::calib
