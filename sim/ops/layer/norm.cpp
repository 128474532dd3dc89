// LayerNorm and RMSNorm.
//
// The residual connection's gradient is added by a kernel of its own (3 tensors), or by the norm's.
#include "sim/ops/layer/layers.hpp"
#include "sim/ops/layer/tensor_collective.hpp"
#include "sim/ops/style/style.hpp"

namespace stepsim {
namespace {

std::vector<double> weights(std::int64_t hidden, bool rms, bool bias) {
  return std::vector<double>(!rms && bias ? 2 : 1, static_cast<double>(hidden));
}

}  // namespace

Op norm(const Pass& pass, const std::string& name, std::int64_t hidden, bool rms, bool bias,
        bool branches) {
  const auto elements = static_cast<double>(pass.outer_tokens() * hidden);
  const Pass own = pass.of(LayerPart::norm);
  const double activation = own.element() * elements;
  const bool joins = branches && pass.style->adds_residual_gradient_in_norm;
  Op op;
  op.name = name;
  op.normalises = true;
  op.calls = pass.style->modules.norm;
  op.parameters = weights(hidden, rms, bias);
  op.output = Bytes{activation};
  op.kept_for_weights = Bytes{2 * activation};
  pass.style->norm(op, own,
                   {.name = name,
                    .elements = elements,
                    .rows = static_cast<double>(pass.outer_tokens()),
                    .rms = rms,
                    .joins_residual = joins});
  if (branches && !joins)
    op.backward.emplace_back(memory_bound(name + " residual gradient", 3 * activation));
  for (const double tensor : op.parameters) op.backward.emplace_back(GradientReady{tensor});
  // What a sum in the same type hands on enters as it is.
  const bool enters = pass.of(LayerPart::residual).precision != own.precision;
  return between_casts(std::move(op), pass, own, enters ? elements : 0, elements);
}

Op residual_norm(const Pass& pass, const std::string& name, std::int64_t hidden, bool dropout,
                 bool residual_bias, bool rms, bool norm_bias) {
  const auto elements = static_cast<double>(pass.outer_tokens() * hidden);
  const double one = pass.element() * elements;
  // What residual connections carry: the sum, and the gradient beside it.
  const double sum = pass.carried().element() * elements;
  const double mask = dropout ? elements : 0;  // one byte an element
  const bool parts = dropout || sum != one;    // the branch's gradient is not the sum's
  Op op;
  op.name = name;
  op.parameters = weights(hidden, rms, norm_bias);
  op.forward.emplace_back(memory_bound(name, 2 * one + 2 * sum + mask, MemoryRate::norm));
  op.backward.emplace_back(
      memory_bound(name + " dgrad", (parts ? 2 : 1) * one + 3 * sum + mask, MemoryRate::norm));
  op.backward.emplace_back(for_weights(memory_bound(name + " wgrad", one + sum, MemoryRate::norm)));
  op.kept_for_weights = Bytes{one + sum};
  if (residual_bias) {
    op.backward.emplace_back(
        for_weights(memory_bound(name + " bias gradient", one, MemoryRate::norm)));
    op.kept_for_weights += Bytes{one};
  }
  for (const double tensor : op.parameters) op.backward.emplace_back(GradientReady{tensor});
  op.saved = Bytes{sum + mask};
  op.output = Bytes{sum + one};  // the sum, and its norm
  return op;
}

namespace {

/// Tensor ranks gather heads before a norm over all of them and keep their own behind it; backward
/// the other way round (NVIDIA-NeMo/Megatron-Bridge
/// src/megatron/bridge/diffusion/models/common/dit_attention.py, layernorm_across_heads).
void gather_heads(Op& op, const Pass& pass, std::int64_t queries, std::int64_t keys) {
  Items gathers;
  for (const std::int64_t values : {queries, keys})
    add_tensor_collective(gathers, CollectiveOp::all_gather,
                          Bytes{pass.element() * static_cast<double>(values)});
  op.forward.insert(op.forward.begin(), gathers.begin(), gathers.end());
  op.backward.insert(op.backward.begin(), gathers.begin(), gathers.end());
}

}  // namespace

Op head_norm(const Pass& pass, const AttentionShape& a, bool wide) {
  const std::int64_t ranks = wide ? pass.tensor : 1;
  const std::int64_t queries = pass.tokens() * a.heads * ranks;
  const std::int64_t keys = pass.batch * a.key_tokens(pass) * a.kv_heads * ranks;
  const auto heads = static_cast<double>(queries + keys);
  const double elements = heads * static_cast<double>(a.head_dim);
  const double tokens = static_cast<double>(pass.tokens() + pass.batch * a.key_tokens(pass));
  Op op;
  op.name = "head norm";
  op.calls = pass.style->modules.norm.times(2);
  op.parameters = {static_cast<double>(a.head_dim * (wide ? a.heads * ranks : 1)),
                   static_cast<double>(a.head_dim * (wide ? a.kv_heads * ranks : 1))};
  pass.style->norm(op, pass,
                   {.name = op.name,
                    .elements = elements,
                    .rows = wide ? tokens : heads,
                    .rms = true,
                    .behind_product = true});
  op.output = Bytes{pass.element() * elements};
  for (const double tensor : op.parameters) op.backward.emplace_back(GradientReady{tensor});
  if (ranks > 1) gather_heads(op, pass, queries * a.head_dim, keys * a.head_dim);
  return op;
}

}  // namespace stepsim
