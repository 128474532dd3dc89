// Hand-written kernels: those of Megatron-LM, with Apex's or Transformer Engine's norms.
//
// Megatron-LM's softmax wants a multiple of 4 sequences and heads together, and of 4 queries, in 16
// bits; other scores go the unfused way (NVIDIA/Megatron-LM megatron/core/fusions/fused_softmax.py,
// is_kernel_available; v2.2 and before: custom_kernel_constraint). The longest row that it takes,
// 2048 at first, grew with versions, and is not looked at.
//
// Bias, dropout and residual sum are one kernel that reads two tensors and writes one
// (megatron/core/fusions/fused_bias_dropout.py), that of a fuser, which `bias_dropout_fusion` can
// have off. The bias of queries, keys and values is added behind their product by Megatron-LM's own
// layer (megatron/core/tensor_parallel/layers.py,
// linear_with_grad_accumulation_and_async_allreduce; before, PyTorch's linear of three dimensions,
// aten/src/ATen/native/Linear.cpp), not by Transformer Engine's. That of the MLP is the
// activation's.
//
// Megatron-LM has Transformer Engine's kernel of rotary positions off where they are YaRN's
// (megatron/training/arguments.py, position_embedding_type other than rope; NVIDIA-NeMo/
// Megatron-Bridge v0.2.1 src/megatron/bridge/utils/fusions.py, validate_rope_fusion_compatibility).
// Operators of PyTorch are those of megatron/core/models/common/embeddings/rope_utils.py,
// _apply_rotary_pos_emb_bshd.
#include <array>

#include "sim/core/registry.hpp"
#include "sim/ops/style/kernels.hpp"

namespace stepsim {
namespace {

/// Whether Megatron-LM has a kernel for scores of this shape.
bool has_kernel(const Pass& pass, const AttentionShape& a) {
  constexpr std::int64_t kUnit = 4;
  return a.kernel != kEagerAttention && pass.element() < 4 && pass.batch * a.heads % kUnit == 0 &&
         pass.sequence % kUnit == 0;
}

void fused_softmax(Op& op, const Pass& pass, const AttentionShape& a) {
  has_kernel(pass, a) ? softmax_by_kernel(op, pass, a) : softmax_by_operations(op, pass, a);
}

// Tensors read and written by operators of rotary positions. Forward: half of it negated (1), halves
// joined (2), times the cosine and the sine (2 each), sum (3), a copy where columns without positions
// would be joined (2). Backward: times the cosine and the sine (2 each), half negated (1), halves
// joined (2), sum (3), zeros for columns without positions (1), and their sum (3).
constexpr std::array kRotary{1.0, 2.0, 2.0, 2.0, 3.0, 2.0};
constexpr std::array kRotaryBackward{2.0, 2.0, 1.0, 2.0, 3.0, 1.0, 3.0};
/// Operators that make, scale and narrow sine and cosine, of queries and of keys. They have a number
/// for each position and column, a thousandth of what the others move, so that launches are all.
constexpr double kSines = 2 * 2 * 3;

bool joins_rotary(const Pass& pass, const AttentionShape& a) {
  return !a.yarn && pass.training->rope_fusion;
}

void fused_rotary(Items& items, const Pass& pass, const AttentionShape& a) {
  if (joins_rotary(pass, a)) return joined_rotary(items, pass, a);
  const std::size_t first = items.size();
  rotary_by_operations(items, pass, a, "rotary embedding", kRotary);
  std::get<Launch>(items[first]).more_operators = kSines;
}

void fused_rotary_backward(Items& items, const Pass& pass, const AttentionShape& a) {
  if (joins_rotary(pass, a)) return joined_rotary_backward(items, pass, a);
  rotary_by_operations(items, pass, a, "rotary embedding backward", kRotaryBackward);
}

/// Megatron Core's attention with Transformer Engine's module: see layer/attention.cpp.
void fused_with_engine(Style& style) {
  style.adds_qkv_bias_behind = nullptr;
  style.puts_batch_first = true;
}

const Registered<Style> fused_kernels{fused_style()};

}  // namespace

Style fused_style() {
  return {.name = "fused",
          .description = "hand-written kernels, as in Megatron-LM, Apex and Transformer Engine",
          .norm = library_norm,
          .has_fusion_switches = true,
          .activation = joined_activation,
          .dropout = library_dropout(),
          .softmax = fused_softmax,
          .row_softmax = library_row_softmax(),
          .rotary = fused_rotary,
          .rotary_backward = fused_rotary_backward,
          .loss = library_loss,
          .adds_qkv_bias_behind = [](const std::string& a) { return a == kUnfusedAttention; },
          .strides_products = true,
          .modules = megatron_modules(),
          .with_engine = fused_with_engine,
          .compiles_to = "compiled"};
}

}  // namespace stepsim
