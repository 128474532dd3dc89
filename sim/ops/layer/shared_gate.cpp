// The gate of shared experts: a number a token, of its input, that weighs what they hand on.
#include "sim/ops/layer/layers.hpp"

namespace stepsim {

Op shared_gate(const Pass& pass, std::int64_t hidden) {
  // A product with one column reads its input once; the gate is a number a token.
  const auto width = static_cast<double>(hidden);
  const auto tokens = static_cast<double>(pass.outer_tokens());
  const double one = pass.element() * tokens * width;
  Op op;
  op.name = "shared gate";
  op.parameters = {width};
  op.flops = Flops{2 * tokens * width};
  op.forward.emplace_back(memory_bound("shared gate", one));
  op.forward.emplace_back(memory_bound("shared gate product", 2 * one));
  op.backward.emplace_back(memory_bound("shared gate product backward", 4 * one));
  op.backward.emplace_back(memory_bound("shared gate dgrad", 2 * one));
  op.backward.emplace_back(for_weights(memory_bound("shared gate wgrad", one, MemoryRate::norm)));
  op.backward.emplace_back(GradientReady{width});
  op.saved = Bytes{one};  // what it weighs; the experts keep its input
  op.output = Bytes{one};
  return op;
}

}  // namespace stepsim
