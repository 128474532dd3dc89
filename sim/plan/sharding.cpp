// The sharding strategy of a scenario.
#include "sim/plan/sharding.hpp"

#include "sim/core/error.hpp"
#include "sim/core/registry.hpp"

namespace stepsim {

const ShardingStrategy& strategy_of(Sharding kind) {
  for (const ShardingStrategy* strategy : Registry<ShardingStrategy>::all()) {
    if (strategy->kind == kind) return *strategy;
  }
  throw InternalError("a sharding kind without a strategy");
}

CollectiveOp gradient_reduction(const DataParallel& data) {
  const bool whole =
      data.all_reduce_gradients && data.sharding == Sharding::zero1 && !data.shard_degree;
  return whole ? CollectiveOp::all_reduce : strategy_of(data.sharding).reduce;
}

}  // namespace stepsim
