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

}  // namespace stepsim
