// The element-wise layers between the matrix products: activations and residual connections.
//
// Unfused, a gated activation is the activation of one half (2 tensors), a product (3), and
// backward two products (3 each), the activation's gradient (3) and the halves' gradients joined
// (4); the output of the activation is kept for the product. A residual is the bias (2), dropout (2
// and its mask) and the sum (3), instead of one kernel that reads two tensors and writes one: that
// of a fuser, which bias_dropout_fusion can have off.
// Sources: NVIDIA/Megatron-LM megatron/core/transformer/mlp.py,
// megatron/core/fusions/fused_bias_dropout.py, each with and without its fused path.
#include "sim/ops/layer/layers.hpp"

namespace stepsim {

Items activation_forward(const Pass& pass, const std::string& name, double one, bool gated) {
  if (pass.composes(ComposedOperation::activation)) return composed_activation(name, one);
  if (!gated) return {memory_bound(name, 2 * one)};
  if (pass.fusion != Fusion::none) return {memory_bound(name, 3 * one)};
  return {memory_bound(name, 2 * one), memory_bound(name + " product", 3 * one)};
}

Items activation_backward(const Pass& pass, const std::string& name, double one, bool gated) {
  if (pass.composes(ComposedOperation::activation)) return composed_activation_backward(name, one);
  // Reads the output's gradient and the inputs, writes the inputs' gradients.
  if (!gated) return {memory_bound(name + " backward", 3 * one)};
  if (pass.fusion != Fusion::none) return {memory_bound(name + " backward", 5 * one)};
  return {memory_bound(name + " product backward", 3 * one),
          memory_bound(name + " product backward", 3 * one),
          memory_bound(name + " backward", 3 * one),
          memory_bound(name + " gradient concatenation", 4 * one)};
}

Bytes activation_saved(const Pass& pass, double one, bool gated) {
  // Composed: the input, its cube, the tanh, and what multiplies the input.
  if (pass.composes(ComposedOperation::activation)) return Bytes{4 * one};
  if (!gated) return Bytes{one};
  return Bytes{(pass.fusion == Fusion::none ? 3 : 2) * one};
}

Op between_casts(Op op, const Pass& pass, double entering, double leaving) {
  const auto cast = [&](const char* what, double elements) {
    return Item(memory_bound(op.name + what, pass.cast() * elements));
  };
  if (entering > 0) {
    op.forward.insert(op.forward.begin(), cast(" input cast", entering));
    op.backward.push_back(cast(" gradient cast", entering));
  }
  if (leaving > 0) {
    op.forward.push_back(cast(" output cast", leaving));
    op.backward.insert(op.backward.begin(), cast(" output gradient cast", leaving));
  }
  return op;
}

Op activation(const Pass& pass, std::int64_t width, bool gated) {
  if (pass.in_fp32(LayerPart::activation)) {
    const auto elements = static_cast<double>(pass.tokens() * width);
    return between_casts(activation(pass.widened(), width, gated), pass, (gated ? 2 : 1) * elements,
                         elements);
  }
  const double one = pass.element() * static_cast<double>(pass.tokens() * width);
  Op op;
  op.name = gated ? "swiglu" : "activation";
  op.calls = activation_calls(pass.megatron);
  op.forward = activation_forward(pass, op.name, one, gated);
  op.backward = activation_backward(pass, op.name, one, gated);
  op.saved = activation_saved(pass, one, gated);
  op.output = Bytes{one};
  return op;
}

Op residual(const Pass& pass, const std::string& name, std::int64_t hidden, bool dropout,
            bool bias) {
  const auto elements = static_cast<double>(pass.outer_tokens() * hidden);
  const double one = pass.element() * elements;
  const double mask = dropout ? mask_bytes(pass, elements) : 0;
  // Bytes of the sum and of what is carried around, and those of a cast of the branch to them.
  const bool wide = pass.in_fp32(LayerPart::residual);
  const double sum = wide ? 4 * elements : one;
  const double cast = wide ? pass.cast() * elements : 0;
  Op op;
  op.name = name;
  op.calls = residual_calls(pass.megatron);
  if (pass.fusion == Fusion::none || !pass.bias_dropout_fusion) {
    if (bias) op.forward.emplace_back(memory_bound(name + " bias", 2 * one));
    if (dropout) append(op.forward, dropout_forward(pass, name + " dropout", elements));
    if (wide) op.forward.emplace_back(memory_bound(name + " cast", cast));
    op.forward.emplace_back(memory_bound(name, 3 * sum));
  } else {
    op.forward.emplace_back(memory_bound(name, one + 2 * sum + mask,
                                         dropout ? MemoryRate::dropout : MemoryRate::elementwise));
  }
  if (wide) op.backward.emplace_back(memory_bound(name + " gradient cast", cast));
  if (dropout) append(op.backward, dropout_backward(pass, name + " backward", elements));
  if (bias) {
    op.backward.emplace_back(
        for_weights(memory_bound(name + " bias gradient", one, MemoryRate::norm)));
    op.kept_for_weights = Bytes{one};
  }
  op.saved = Bytes{mask};
  op.output = Bytes{sum};
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
