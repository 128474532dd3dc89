// The element-wise layers between the matrix products: activations and residual connections.
#include "sim/ops/layer/layers.hpp"

namespace stepsim {

Op activation(const Pass& pass, std::int64_t width, bool gated) {
  const double one = pass.element() * static_cast<double>(pass.tokens() * width);
  Op op;
  op.name = gated ? "swiglu" : "activation";
  const double inputs = gated ? 2 : 1;
  op.forward.emplace_back(memory_bound(op.name, (inputs + 1) * one));
  // Reads the output's gradient and the inputs, writes the inputs' gradients.
  op.backward.emplace_back(memory_bound(op.name + " backward", (1 + 2 * inputs) * one));
  op.saved = Bytes{inputs * one};
  return op;
}

Op residual(const Pass& pass, const std::string& name, std::int64_t hidden, bool dropout,
            bool bias) {
  const auto elements = static_cast<double>(pass.outer_tokens() * hidden);
  const double one = pass.element() * elements;
  const double mask = dropout ? elements : 0;  // one byte an element
  Op op;
  op.name = name;
  op.forward.emplace_back(
      memory_bound(name, 3 * one + mask, dropout ? MemoryRate::dropout : MemoryRate::elementwise));
  if (dropout)
    op.backward.emplace_back(memory_bound(name + " backward", 2 * one + mask, MemoryRate::dropout));
  if (bias) {
    op.backward.emplace_back(
        for_weights(memory_bound(name + " bias gradient", one, MemoryRate::norm)));
    op.kept_for_weights = Bytes{one};
  }
  op.saved = Bytes{mask};
  return op;
}

Op squared_error(const Pass& pass, std::int64_t width) {
  const double one = pass.element() * static_cast<double>(pass.tokens() * width);
  Op op;
  op.name = "squared error";
  op.forward.emplace_back(memory_bound("squared error", 3 * one, MemoryRate::loss));
  op.backward.emplace_back(memory_bound("squared error backward", 3 * one, MemoryRate::loss));
  op.saved = Bytes{one};
  return op;
}

}  // namespace stepsim
