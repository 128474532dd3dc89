// The element-wise layers between the matrix products: activations and residual connections.
#include "sim/ops/layer/layers.hpp"
#include "sim/ops/style/style.hpp"

namespace stepsim {

Op between_casts(Op op, const Pass& pass, const Pass& own, double entering, double leaving) {
  if (own.precision == pass.precision) return op;
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

void keep_narrow_input(ActivationKernels& kernels, const Pass& pass, double inputs) {
  if (!pass.fp8_activation_input) return;
  const Launch cast = memory_bound("cast of activation input", (pass.element() + 1) * inputs);
  kernels.forward.emplace_back(cast);
  kernels.backward.insert(kernels.backward.begin(), cast);
  kernels.saved = Bytes{inputs};
}

Op activation(const Pass& pass, std::int64_t width, bool gated) {
  const Pass own = pass.of(LayerPart::activation);
  const auto elements = static_cast<double>(pass.tokens() * width);
  const double one = own.element() * elements;
  Op op;
  op.name = gated ? "swiglu" : "activation";
  op.calls = pass.style->modules.activation;
  ActivationKernels kernels = pass.style->activation(op.name, one, gated);
  if (gated) keep_narrow_input(kernels, pass, 2 * elements);
  op.forward = std::move(kernels.forward);
  op.backward = std::move(kernels.backward);
  op.saved = kernels.saved;
  op.output = Bytes{one};
  return between_casts(std::move(op), pass, own, (gated ? 2 : 1) * elements, elements);
}

Op attention_gate(const Pass& pass, std::int64_t width) {
  const double one = pass.element() * static_cast<double>(pass.tokens() * width);
  Op op;
  op.name = "attention gate";
  ActivationKernels kernels = pass.style->activation(op.name, one, true);
  op.forward = std::move(kernels.forward);
  op.backward = std::move(kernels.backward);
  op.saved = kernels.saved;
  op.output = Bytes{one};
  return op;
}

Op residual(const Pass& pass, const std::string& name, std::int64_t hidden, bool dropout,
            bool bias) {
  const auto elements = static_cast<double>(pass.outer_tokens() * hidden);
  const double one = pass.element() * elements;
  const DropoutKernels& drop = pass.style->dropout;
  const double mask = dropout ? drop.mask_bytes(pass, elements) : 0;
  // Bytes of the sum and of what is carried around, and those of a cast of the branch to them.
  const Pass own = pass.of(LayerPart::residual);
  const double sum = own.element() * elements;
  const double cast = own.precision != pass.precision ? pass.cast() * elements : 0;
  Op op;
  op.name = name;
  op.adds_residual = true;
  op.calls = pass.style->modules.residual;
  if (pass.style->joins_bias_and_dropout) {
    op.forward.emplace_back(memory_bound(name, one + 2 * sum + mask,
                                         dropout ? MemoryRate::dropout : MemoryRate::elementwise));
  } else {
    if (bias) op.forward.emplace_back(memory_bound(name + " bias", 2 * one));
    if (dropout) append(op.forward, drop.forward(pass, name + " dropout", elements));
    // PyTorch's sum reads operands of two types.
    const bool promotes = pass.casts_weights;
    if (cast > 0 && !promotes) op.forward.emplace_back(memory_bound(name + " cast", cast));
    op.forward.emplace_back(memory_bound(name, 2 * sum + (promotes ? one : sum)));
  }
  if (cast > 0) op.backward.emplace_back(memory_bound(name + " gradient cast", cast));
  if (dropout) append(op.backward, drop.backward(pass, name + " backward", elements));
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
