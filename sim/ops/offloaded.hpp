// Which bytes of a layer's activations go to the host.
#pragma once

#include "sim/ops/op_graph.hpp"

namespace stepsim {

/// Bytes a micro-batch that leave the GPU after the block's forward pass: none of blocks that are no
/// layers, and never more than the block keeps where it is recomputed like that.
Bytes offloaded_bytes(const Block& block, const Recomputation& recompute, const Training& training);

}  // namespace stepsim
