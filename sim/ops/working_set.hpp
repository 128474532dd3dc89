// The most that the backward pass of one block holds, and at which op.
//
// Backward walks the ops in reverse. While one runs, there are: what it and the ops before it have
// saved; the gradients that are known but not used up (of its own output, of its inputs, and of
// branches that go around it); and its scratch. What recompute brings back is there from the start
// of the block (full) or from the last op of its module to the first that keeps some of it
// (selective; Block::regions).
#pragma once

#include <string>

#include "sim/ops/op_graph.hpp"

namespace stepsim {

/// What varies during a step, by category.
struct Working {
  Bytes activations;  ///< kept from forward to backward
  Bytes logits;      ///< kept by the loss from forward to backward; and the gradients of the logits
  Bytes recomputed;  ///< activations that recompute brings back for one block
  Bytes gradients;   ///< gradients of activations, and scratch of the op that runs
  Bytes gathered;    ///< parameters (and gradients) of blocks that are sharded otherwise
  Bytes total() const { return activations + logits + recomputed + gradients + gathered; }
  Working& operator+=(const Working& other);
  Working& operator-=(const Working& other);
  bool operator==(const Working&) const = default;
};
inline Working operator+(Working a, const Working& b) { return a += b; }
inline Working operator-(Working a, const Working& b) { return a -= b; }

/// What a block keeps for its backward pass.
Working saved_by(const Block& block, const Recomputation& recompute);

struct BlockPeak {
  Working held;    ///< what this block alone holds, activations that it has kept included
  std::string op;  ///< the op whose backward pass it is
};
BlockPeak backward_peak(const Block& block, const Recomputation& recompute);

}  // namespace stepsim
