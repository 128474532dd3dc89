// Adaptive norms of diffusion transformers: vectors of each sample shift and scale what a norm puts
// out, and weigh what a part adds to the residual (adaLN-Zero; Peebles and Xie 2022, arXiv
// 2212.09748, section 3.2).
//
// Eager PyTorch has a kernel for each product and sum (facebookresearch/DiT models.py, modulate and
// DiTBlock.forward; huggingface/diffusers src/diffusers/models/normalization.py, AdaLayerNormZero),
// and keeps what the norm and the part put out for the gradients of scale and gate, which are
// products that are summed over tokens. Compiled, shift and scale are part of the norm's kernel and
// the gate of the residual's (NVIDIA-NeMo/Megatron-Bridge
// src/megatron/bridge/diffusion/models/wan/wan_layer_spec.py, normalize_modulate and scale_add);
// what is left is backward: the sums over tokens, and the part's gradient.
#include "sim/ops/layer/layers.hpp"
#include "sim/ops/style/style.hpp"

namespace stepsim {
namespace {

/// Whether a compiler makes one kernel of a norm and what follows, or of a residual and what comes
/// before it.
bool joins(const Pass& pass) {
  return pass.style->joins_chains || pass.style->joins_bias_and_dropout;
}

/// The product of a vector of each sample with a tensor of that many bytes, and both gradients.
void add_product(Op& op, const std::string& name, double one) {
  op.forward.emplace_back(memory_bound(name, 2 * one));
  op.backward.emplace_back(memory_bound(name + " gradient", 2 * one));
  op.backward.emplace_back(memory_bound(name + " vector gradient", 3 * one));
  op.backward.emplace_back(memory_bound(name + " vector gradient sum", one, MemoryRate::norm));
  op.saved = Bytes{one};
}

}  // namespace

Op without_weights(Op norm) {
  std::erase_if(norm.backward, [](const Item& item) {
    const auto* launch = std::get_if<Launch>(&item);
    return std::holds_alternative<GradientReady>(item) ||
           (launch != nullptr && launch->for_weights);
  });
  norm.parameters.clear();
  norm.kept_for_weights = Bytes{0};
  return norm;
}

Op modulate(const Pass& pass, const std::string& name, std::int64_t hidden) {
  const double one = pass.outer_activation(hidden).bytes();
  Op op;
  op.name = name;
  op.output = Bytes{one};
  if (joins(pass)) {
    op.backward.emplace_back(memory_bound(name + " sums", 2 * one, MemoryRate::norm));
    return op;
  }
  add_product(op, name + " scale", one);
  op.forward.emplace_back(memory_bound(name + " shift", 2 * one));
  op.backward.emplace_back(memory_bound(name + " shift gradient sum", one, MemoryRate::norm));
  return op;
}

Op modulation_gate(const Pass& pass, const std::string& name, std::int64_t hidden) {
  const double one = pass.outer_activation(hidden).bytes();
  Op op;
  op.name = name;
  op.output = Bytes{one};
  if (joins(pass)) {
    op.backward.emplace_back(memory_bound(name + " gradient", 2 * one));
    op.backward.emplace_back(memory_bound(name + " sum", 2 * one, MemoryRate::norm));
    op.saved = Bytes{one};
    return op;
  }
  add_product(op, name, one);
  return op;
}

Op modulation_table(const Pass& pass, const std::string& name, std::int64_t width,
                    std::int64_t rows) {
  const double one = pass.element() * static_cast<double>(pass.batch * width);
  Op op;
  op.name = name;
  op.parameters = {static_cast<double>(rows * width)};
  op.output = Bytes{one};
  op.forward.emplace_back(memory_bound(name, 3 * one));
  op.backward.emplace_back(for_weights(memory_bound(name + " gradient", 2 * one)));
  op.backward.emplace_back(GradientReady{op.parameters.front()});
  return op;
}

Op joined_tensors(const std::string& name, Bytes all) {
  Op op;
  op.name = name;
  op.output = all;
  op.forward.emplace_back(memory_bound(name, 2 * all.bytes()));
  op.backward.emplace_back(memory_bound(name + " backward", 2 * all.bytes()));
  return op;
}

}  // namespace stepsim
