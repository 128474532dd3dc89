// ZeRO stage 2: gradients are sharded, hence reduced after every micro-batch (DeepSpeed's
// stage_1_and_2).
#include "sim/core/registry.hpp"
#include "sim/plan/sharding.hpp"

namespace stepsim {
namespace {

const Registered<ShardingStrategy> zero2{{
    .name = "zero2",
    .description = "as zero1, gradients sharded too: reduced after every micro-batch",
    .kind = Sharding::zero2,
    .reduce = CollectiveOp::reduce_scatter,
    .shards_optimizer = true,
    .shards_gradients = true,
    .shards_parameters = false,
}};

}  // namespace
}  // namespace stepsim
