// The blocks that images go through before the embedding of a decoder: a vision tower and its
// projector.
#pragma once

#include "sim/ops/blocks.hpp"

namespace stepsim {

/// Appends the tower's patches, layers and projector, which stay on the first stage. `pass`: the
/// decoder's. REQUIRES: the scenario says how large images are.
void append_tower(BlockChain& chain, const Scenario& scenario, const VisionTower& tower,
                  const Pass& pass);

/// Puts the images' tokens in the place of words, behind the last op of the embedding.
void add_images(OpDag& embedding, const Scenario& scenario, const Pass& pass);

}  // namespace stepsim
