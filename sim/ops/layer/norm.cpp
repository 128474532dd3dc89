// LayerNorm and RMSNorm: one read and one write forward, two kernels and the residual's addition
// backward.
#include "sim/ops/layer/layers.hpp"

namespace stepsim {

Op norm(const Pass& pass, const std::string& name, std::int64_t hidden, bool rms, bool bias,
        bool branches) {
  const double activation = pass.element() * static_cast<double>(pass.outer_tokens() * hidden);
  Op op;
  op.name = name;
  op.parameters = {static_cast<double>(hidden)};
  if (!rms && bias) op.parameters.push_back(static_cast<double>(hidden));
  op.saved = Bytes{activation};
  op.kept_for_weights = Bytes{2 * activation};
  op.forward.emplace_back(memory_bound(name, 2 * activation, MemoryRate::norm));
  // Input gradient: reads the gradient and the input, writes one. Weight gradient: reads both
  // again.
  op.backward.emplace_back(memory_bound(name + " dgrad", 3 * activation, MemoryRate::norm));
  op.backward.emplace_back(
      for_weights(memory_bound(name + " wgrad", 2 * activation, MemoryRate::norm)));
  if (branches) op.backward.emplace_back(memory_bound(name + " residual gradient", 3 * activation));
  for (const double tensor : op.parameters) op.backward.emplace_back(GradientReady{tensor});
  return op;
}

Op head_norm(const Pass& pass, const AttentionShape& a) {
  const double heads = pass.element() * static_cast<double>(pass.tokens() * a.head_dim) *
                       static_cast<double>(a.heads + a.kv_heads);
  Op op;
  op.name = "head norm";
  op.parameters = {static_cast<double>(a.head_dim), static_cast<double>(a.head_dim)};
  op.saved = Bytes{heads};
  op.forward.emplace_back(memory_bound("head norm", 2 * heads, MemoryRate::norm));
  op.backward.emplace_back(memory_bound("head norm dgrad", 3 * heads, MemoryRate::norm));
  op.backward.emplace_back(memory_bound("head norm wgrad", 2 * heads, MemoryRate::norm));
  for (const double tensor : op.parameters) op.backward.emplace_back(GradientReady{tensor});
  return op;
}

}  // namespace stepsim
