// ZeRO stage 3 (FSDP full shard): each block's parameters are gathered for forward and again for
// backward.
#include "sim/core/registry.hpp"
#include "sim/plan/sharding.hpp"

namespace stepsim {
namespace {

const Registered<ShardingStrategy> zero3{{
    .name = "zero3",
    .description = "parameters sharded too: each block is gathered before it runs",
    .kind = Sharding::zero3,
    .reduce = CollectiveOp::reduce_scatter,
    .shards_optimizer = true,
    .shards_gradients = true,
    .shards_parameters = true,
}};

}  // namespace
}  // namespace stepsim
