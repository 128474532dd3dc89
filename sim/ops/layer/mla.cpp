// Multi-head latent attention: from the narrow layers' outputs to the heads' queries, keys and
// values.
//
// DeepSeek-V2, arXiv 2405.04434, section 2.1; kernels as in NVIDIA/Megatron-LM
// megatron/core/transformer/multi_latent_attention.py. Without fused rotary embedding rotary parts
// are by themselves, then each tensor is joined (one read, one write). With it queries' are written
// in place, and one kernel makes keys and values of the projection's output, as another one takes
// their gradients apart (megatron/core/fusions/fused_mla_yarn_rope_apply.py).
#include "sim/ops/layer/layers.hpp"
#include "sim/ops/layer/tensor_collective.hpp"

namespace stepsim {
namespace {

struct HeadBytes {
  HeadBytes(const Pass& pass, const LatentAttention& a, std::int64_t heads) {
    const double one = pass.element() * static_cast<double>(pass.tokens() * heads);
    query = one * static_cast<double>(a.key_dim());
    rotary = one * static_cast<double>(a.rope_dim);
    value = one * static_cast<double>(a.value_dim);
    up = one * static_cast<double>(a.nope_dim + a.value_dim);
  }
  double query, rotary, value;
  double up;  ///< output of the projection of keys and values
};

/// The heads share the rotary part of their keys; each tensor rank has that of its tokens alone.
void add_shared_keys(Items& items, const Pass& pass, CollectiveOp op, std::int64_t width) {
  if (pass.tensor == 1 || !pass.sequence_parallel) return;
  add_tensor_collective(items, op, pass.activation(width));
}

/// Tensors of the size of rotary parts that operators of PyTorch read and write (NVIDIA/Megatron-LM
/// megatron/core/models/common/embeddings/rope_utils.py, _apply_rotary_pos_emb_bshd). Forward pairs
/// are joined (2), half is negated (1) and joined (2), times cosine and sine (2 each), sum (3), what
/// has no positions joined (2). Backward times both (2 each), half negated (1), joined (2), sum (3),
/// both of the pairs into zeros (1.5 each), their sum (3), zeros for what has no positions (1),
/// their sum (3).
constexpr double kForwardTensors = 14, kBackwardTensors = 20;
/// Their operators, with six that make sines and cosines, beyond the one kernel that stands for
/// their bytes.
constexpr double kRotaryForward = 12, kRotaryBackward = 9;

Launch by_operators(const char* name, double bytes, double more) {
  Launch kernel = memory_bound(name, bytes);
  kernel.more_operators = more;
  return kernel;
}

void add_fused_heads(Op& op, const HeadBytes& bytes, double shared_keys) {
  const double keys_and_values = bytes.up + shared_keys + bytes.query + bytes.value;
  op.forward.emplace_back(memory_bound("rotary queries", 2 * bytes.rotary));
  op.forward.emplace_back(memory_bound("keys and values", keys_and_values));
  op.backward.emplace_back(memory_bound("keys and values backward", keys_and_values));
  op.backward.emplace_back(memory_bound("rotary queries backward", 2 * bytes.rotary));
}

void add_heads_by_operators(Op& op, const HeadBytes& bytes, double shared_keys) {
  op.forward.emplace_back(
      by_operators("rotary queries", kForwardTensors * bytes.rotary, kRotaryForward));
  op.forward.emplace_back(
      by_operators("rotary keys", kForwardTensors * shared_keys, kRotaryForward));
  op.forward.emplace_back(memory_bound("join queries", 2 * bytes.query));
  op.forward.emplace_back(memory_bound("join keys", 2 * bytes.query));
  op.forward.emplace_back(memory_bound("copy values", 2 * bytes.value));
  // Gradients of keys without positions and of values become one tensor; the rotary keys' is summed
  // over the heads.
  op.backward.emplace_back(memory_bound("kv gradient concatenation", 2 * bytes.up));
  op.backward.emplace_back(memory_bound("rotary keys gradient", bytes.rotary + shared_keys));
  op.backward.emplace_back(
      by_operators("rotary keys backward", kBackwardTensors * shared_keys, kRotaryBackward));
  op.backward.emplace_back(
      by_operators("rotary queries backward", kBackwardTensors * bytes.rotary, kRotaryBackward));
  op.backward.emplace_back(memory_bound("query gradient concatenation", 2 * bytes.query));
}

}  // namespace

Op latent_heads(const Pass& pass, const LatentAttention& a, std::int64_t heads) {
  const HeadBytes bytes(pass, a, heads);
  const double shared_keys =
      pass.element() * static_cast<double>(pass.tokens()) * static_cast<double>(a.rope_dim);
  Op op;
  op.name = "latent heads";
  const bool fused = pass.training->rope_fusion;
  // Fused: heads of queries, of keys with values, a dimension more of the shared key. Else heads
  // apart, parts with and without positions, values, and one key for all heads.
  op.calls = fused ? HostCalls{.modules = 0, .functions = 2, .views = 3, .in_functions = true}
                   : HostCalls{.modules = 0, .views = 12};
  op.output = Bytes{2 * bytes.query + bytes.value};
  add_shared_keys(op.forward, pass, CollectiveOp::all_gather, a.rope_dim);
  (fused ? add_fused_heads : add_heads_by_operators)(op, bytes, shared_keys);
  add_shared_keys(op.backward, pass, CollectiveOp::reduce_scatter, a.rope_dim);
  return op;
}

}  // namespace stepsim
