// Patch embedding: images are cut into patches, each of which a linear layer turns into a token.
//
// Dosovitskiy et al. 2020 (arXiv 2010.11929), section 3.1; kernels as in NVIDIA/Megatron-LM
// megatron/legacy/model/vision/vit_backbone.py: the patches are laid out as rows
// (einops.rearrange), a linear layer with bias that every tensor rank runs, the class token in
// front, positions. A convolution with a stride of its own width is the same matrix product. Images
// need no gradient.
//
// Behind a tower squares of patches are merged, by one copy. Their tokens are written over a copy
// of the words' (torch.Tensor.masked_scatter; huggingface/transformers
// src/transformers/models/qwen2_5_vl/modeling_qwen2_5_vl.py, Qwen2_5_VLModel.forward; NVIDIA-NeMo/
// Megatron-Bridge src/megatron/bridge/models/qwen_vl/modeling_qwen25_vl.py has the same). Backward
// they are picked out of the gradient, and the words' gradient is a copy with zeros in their place.
#include "sim/ops/layer/layers.hpp"
#include "sim/ops/layer/tensor_collective.hpp"

namespace stepsim {

Op patch_embedding(const Pass& pass, const PatchShape& s) {
  const std::int64_t h = s.hidden;
  const std::int64_t rows = pass.batch * s.patches;
  const double pixels = pass.element() * static_cast<double>(rows * s.values);
  const double embedded = pass.element() * static_cast<double>(rows * h);
  const double outer = pass.element() * static_cast<double>(pass.outer_tokens() * h);
  Op op;
  op.name = "patches";
  op.parameters = {static_cast<double>(s.values * h)};
  if (s.bias) op.parameters.push_back(static_cast<double>(h));
  if (s.class_token) op.parameters.push_back(static_cast<double>(h));
  if (s.positions > 0) op.parameters.push_back(static_cast<double>(s.positions * h));
  op.forward.emplace_back(memory_bound("cut patches", 2 * pixels));
  op.forward.emplace_back(gemm("patches", pass, rows, h, s.values));
  if (s.class_token) op.forward.emplace_back(memory_bound("class token", embedded + outer));
  if (s.positions > 0) op.forward.emplace_back(memory_bound("position embedding", 3 * outer));
  if (pass.tensor > 1 && pass.sequence_parallel)
    add_tensor_collective(op.backward, CollectiveOp::all_gather, pass.activation(h));
  // Positions: a sum over the batch.
  if (s.positions > 0)
    op.backward.emplace_back(
        for_weights(memory_bound("position gradient", outer, MemoryRate::norm)));
  op.backward.emplace_back(gemm("patches wgrad", pass, s.values, h, rows, true));
  if (s.bias)
    op.backward.emplace_back(
        for_weights(memory_bound("patches bias gradient", embedded, MemoryRate::norm)));
  for (const double tensor : op.parameters) op.backward.emplace_back(GradientReady{tensor});
  if (!pass.frozen) op.saved = Bytes{pixels};
  op.output = Bytes{outer};
  op.kept_for_weights = Bytes{pixels + outer};
  // All tensor ranks compute the same.
  op.flops = Flops{2.0 * static_cast<double>(rows * s.values) * static_cast<double>(h) /
                   static_cast<double>(pass.tensor)};
  return op;
}

Op merge_patches(const Pass& pass, const VisionTower& tower, std::int64_t merged) {
  const double tokens = pass.element() * static_cast<double>(pass.tokens() * tower.hidden);
  const double out = pass.element() * static_cast<double>(pass.batch * merged * tower.merged());
  Op op;
  op.name = "merge patches";
  op.forward.emplace_back(memory_bound("merge patches", tokens + out));
  op.backward.emplace_back(memory_bound("merge patches backward", tokens + out));
  op.output = Bytes{out};
  return op;
}

Op place_images(const Pass& pass, std::int64_t hidden, double tokens, bool trained) {
  const double words = pass.element() * static_cast<double>(pass.outer_tokens() * hidden);
  const double images = pass.element() * tokens * static_cast<double>(hidden);
  Op op;
  op.name = "image tokens";
  op.output = Bytes{words};
  op.forward.emplace_back(memory_bound("image tokens", 2 * words + images));
  if (trained) op.backward.emplace_back(memory_bound("image tokens gradient", 2 * images));
  op.backward.emplace_back(for_weights(memory_bound("words gradient", 2 * words)));
  return op;
}

}  // namespace stepsim
