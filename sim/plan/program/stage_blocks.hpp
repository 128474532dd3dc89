// Which blocks of the model a chunk of a stage holds.
#pragma once

#include <cstddef>
#include <vector>

#include "sim/ops/op_graph.hpp"
#include "sim/scenario/scenario.hpp"

namespace stepsim {

/// Blocks of one chunk, as indices into OpGraph::blocks.
std::vector<std::size_t> blocks_of(const Scenario& scenario, const OpGraph& graph, int stage,
                                   int chunk);

}  // namespace stepsim
