// Patch embedding: images are cut into patches, each of which a linear layer turns into a token.
//
// Dosovitskiy et al. 2020 (arXiv 2010.11929), section 3.1; kernels as in NVIDIA/Megatron-LM
// megatron/legacy/model/vision/vit_backbone.py: the patches are laid out as rows
// (einops.rearrange), a linear layer with bias that every tensor rank runs, the class token in
// front, positions. A convolution with a stride of its own width is the same matrix product. Images
// need no gradient.
#include "sim/ops/layer/layers.hpp"
#include "sim/ops/layer/tensor_collective.hpp"

namespace stepsim {

Op patch_embedding(const Pass& pass, const Transformer& model) {
  const Vision& v = *model.vision;
  const std::int64_t h = model.hidden;
  const std::int64_t rows = pass.batch * v.patches();
  const double pixels = pass.element() * static_cast<double>(rows * v.patch_values());
  const double embedded = pass.element() * static_cast<double>(rows * h);
  const double outer = pass.element() * static_cast<double>(pass.outer_tokens() * h);
  Op op;
  op.name = "patches";
  op.parameters = {static_cast<double>(v.patch_values() * h), static_cast<double>(h),
                   static_cast<double>(h), static_cast<double>(model.positions * h)};
  op.forward.emplace_back(memory_bound("cut patches", 2 * pixels));
  op.forward.emplace_back(gemm("patches", pass, rows, h, v.patch_values()));
  op.forward.emplace_back(memory_bound("class token", embedded + outer));
  op.forward.emplace_back(memory_bound("position embedding", 3 * outer));
  if (pass.tensor > 1 && pass.sequence_parallel)
    add_tensor_collective(op.backward, CollectiveOp::all_gather, pass.activation(h));
  // Positions: a sum over the batch.
  op.backward.emplace_back(for_weights(memory_bound("position gradient", outer, MemoryRate::norm)));
  op.backward.emplace_back(gemm("patches wgrad", pass, v.patch_values(), h, rows, true));
  op.backward.emplace_back(
      for_weights(memory_bound("patches bias gradient", embedded, MemoryRate::norm)));
  for (const double tensor : op.parameters) op.backward.emplace_back(GradientReady{tensor});
  op.saved = Bytes{pixels};
  op.output = Bytes{outer};
  op.kept_for_weights = Bytes{pixels + outer};
  // All tensor ranks compute the same.
  op.flops = Flops{2.0 * static_cast<double>(rows * v.patch_values()) * static_cast<double>(h) /
                   static_cast<double>(pass.tensor)};
  return op;
}

}  // namespace stepsim
