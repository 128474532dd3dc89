// Blocks whose weights are not trained, but adapters beside them are.
#pragma once

#include <vector>

#include "sim/ops/op_graph.hpp"

namespace stepsim {

/// For each op whether its inputs depend on an adapter of the same block, which has gradients of
/// them then.
std::vector<bool> behind_adapters(const OpDag& dag);

/// Leaves the gradients of adapters alone, and what they need. `first`: nothing before the block is
/// trained, so that its ops before the first adapter have no backward pass and keep nothing.
void train_adapters_alone(OpDag& dag, bool first);

}  // namespace stepsim
