// The last block of a transformer: from its layers' output to the loss.
#pragma once

#include "sim/ops/transformer/transformer_layer.hpp"

namespace stepsim {

/// Logits of the next token, BERT's two losses, or classes of an image. `owns_weights`: the logits'
/// weights are not those of the embedding on the same rank.
Block head_block(const LayerStack& stack, bool owns_weights);

/// A layer that shares its first parameter tensor with another one on the same rank does not own
/// it; the gradient is part of the other's.
Op share_weights(Op op);

}  // namespace stepsim
