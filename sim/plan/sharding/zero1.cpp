// ZeRO stage 1: reduce-scatter of the gradients, update of a shard, all-gather of the parameters.
#include "sim/core/registry.hpp"
#include "sim/plan/sharding.hpp"

namespace stepsim {
namespace {

const Registered<ShardingStrategy> zero1{{
    .name = "zero1",
    .description = "the optimizer state is sharded; gradients are scattered, parameters gathered",
    .kind = Sharding::zero1,
    .reduce = CollectiveOp::reduce_scatter,
    .shards_optimizer = true,
    .shards_gradients = false,
    .shards_parameters = false,
}};

}  // namespace
}  // namespace stepsim
