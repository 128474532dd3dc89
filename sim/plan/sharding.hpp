// How data-parallel ranks reduce their gradients, and what each keeps of what they share out.
#pragma once

#include "sim/ops/op_graph.hpp"
#include "sim/scenario/scenario.hpp"

namespace stepsim {

/// Scattered or whole, as the sharding has it; whole, too, where the framework reduces so.
inline CollectiveOp gradient_reduction(const DataParallel& data) {
  const bool whole = data.all_reduce_gradients && data.sharding.may_reduce_whole();
  return data.sharding.scatters_gradients && (!whole || data.shard_degree)
             ? CollectiveOp::reduce_scatter
             : CollectiveOp::all_reduce;
}

/// Share of a full copy that one of n ranks keeps.
constexpr double share(bool sharded, int ranks) { return sharded ? 1.0 / ranks : 1.0; }

}  // namespace stepsim
