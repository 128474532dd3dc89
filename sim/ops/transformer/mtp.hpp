// Multi-token prediction: a layer behind the others that reads the next token's embedding, too.
#pragma once

#include "sim/ops/transformer/transformer_layer.hpp"

namespace stepsim {

/// One depth: embedding of the token to come, norms of it and of the layers' output, a projection
/// of both, and a layer like the model's last ones. `owns_table`: the embedding is a copy. Without
/// its input's size and its regions of recompute.
Block mtp_layer_block(const LayerStack& stack, bool owns_table);

}  // namespace stepsim
