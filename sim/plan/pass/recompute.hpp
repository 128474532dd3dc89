// What the backward pass computes again: which layers of a chunk, and in which groups.
//
// Full recompute keeps a layer's input alone. `uniform`: of every group of N layers only the first
// input is kept, and the whole group runs forward again before its backward pass. `block`: the
// first N layers of each chunk are recomputed one by one, the others keep all
// (NVIDIA/Megatron-LM megatron/core/transformer/transformer_block.py, _checkpointed_forward).
// Selective recompute repeats modules inside each layer (Block::regions).
#pragma once

#include <vector>

#include "sim/ops/op_graph.hpp"
#include "sim/scenario/scenario.hpp"

namespace stepsim {

/// Blocks `begin` up to `end` of a chunk, whose forward pass is repeated as one or not at all.
struct RecomputeSpan {
  std::size_t begin = 0, end = 0;
  Recomputation how;  ///< how each block is
  std::size_t size() const { return end - begin; }
};

/// The chunk in spans, in order. `blocks`: indices into graph.blocks.
std::vector<RecomputeSpan> recompute_spans(const Recomputation& recompute, const OpGraph& graph,
                                           const std::vector<std::size_t>& blocks);

/// FLOPs of a step, all ranks, with what is computed again, as run.flops counts them.
Flops hardware_flops(const Scenario& scenario, const OpGraph& graph);

}  // namespace stepsim
