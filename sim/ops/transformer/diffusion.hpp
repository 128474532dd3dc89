// A diffusion transformer as blocks, and what conditions its layers.
#pragma once

#include "sim/ops/blocks.hpp"
#include "sim/ops/transformer/transformer_layer.hpp"

namespace stepsim {

/// Vectors that modulate one part of a layer: shift, scale, gate.
inline constexpr std::int64_t kPartVectors = 3;

/// Latents and conditions, layers, head.
BlockChain diffusion_blocks(const LayerStack& stack);

/// Adds what makes so many vectors of each sample, as wide as the model, which modulate a layer or
/// the head. Tensor ranks have all of it.
Vertex add_modulation(OpDag& dag, const Pass& pass, const Transformer& model, std::int64_t vectors);

}  // namespace stepsim
