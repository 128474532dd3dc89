// Collectives of the tensor ranks, which share a layer.
#pragma once

#include "sim/ops/op_graph.hpp"

namespace stepsim {

/// Starts a collective; waits for it at once unless it may hide under the next kernel.
/// `for_weights`: only gradients of parameters need it.
inline void add_tensor_collective(Items& items, CollectiveOp op, Bytes bytes, bool hidden = false,
                                  bool for_weights = false) {
  items.emplace_back(StartCollective{op, bytes, Axis::tensor, for_weights});
  if (!hidden) items.emplace_back(Join{for_weights});
}

}  // namespace stepsim
