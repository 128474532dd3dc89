// Rotary positions of queries and keys (Su et al. 2021, arXiv 2104.09864).
//
// Fused, one kernel reads and writes both, in each direction. Compiled, backward is part of the
// kernel that joins the gradients. Unfused, each of the two goes through the kernels of
// huggingface/transformers src/transformers/models/llama/modeling_llama.py, apply_rotary_pos_emb
// and rotate_half.
#include <array>
#include <span>

#include "sim/ops/layer/layers.hpp"

namespace stepsim {
namespace {

// Tensors read and written. Forward: times the cosine (2), half of it negated (1), halves joined
// (2), times the sine (2), sum (3). Backward: times the cosine and the sine (2 each), half negated
// (1), each half into zeros (1 to clear, 1 to copy), the sum of both (3), and with the cosine's
// (3).
constexpr std::array kForward{2.0, 1.0, 2.0, 2.0, 3.0};
constexpr std::array kBackward{2.0, 2.0, 1.0, 1.0, 1.0, 1.0, 1.0, 3.0, 3.0};

double head_bytes(const Pass& pass, const AttentionShape& a) {
  return pass.element() * static_cast<double>(pass.tokens() * a.head_dim);
}

void add_chain(Items& items, const Pass& pass, const AttentionShape& a, const std::string& name,
               std::span<const double> tensors) {
  for (const std::int64_t heads : {a.heads, a.kv_heads}) {
    for (const double count : tensors) {
      items.emplace_back(
          memory_bound(name, count * head_bytes(pass, a) * static_cast<double>(heads)));
    }
  }
}

Launch one_kernel(const Pass& pass, const AttentionShape& a, const std::string& name) {
  return memory_bound(name, 2 * head_bytes(pass, a) * static_cast<double>(a.heads + a.kv_heads));
}

}  // namespace

void add_rotary(Items& items, const Pass& pass, const AttentionShape& a) {
  const std::string name = "rotary embedding";
  if (pass.fusion == Fusion::none) return add_chain(items, pass, a, name, kForward);
  items.emplace_back(one_kernel(pass, a, name));
}

void add_rotary_backward(Items& items, const Pass& pass, const AttentionShape& a) {
  const std::string name = "rotary embedding backward";
  if (pass.fusion == Fusion::none) return add_chain(items, pass, a, name, kBackward);
  if (pass.fusion == Fusion::fused) items.emplace_back(one_kernel(pass, a, name));
}

}  // namespace stepsim
