// ZeRO stage 2: gradients are sharded, hence reduced after every micro-batch (DeepSpeed's
// stage_1_and_2).
#include "sim/core/registry.hpp"
#include "sim/scenario/sharding.hpp"

namespace stepsim {
namespace {

const Registered<Sharding> zero2{{
    .name = "zero2",
    .description = "as zero1, gradients sharded too: reduced after every micro-batch",
    .shards_optimizer = true,
    .shards_gradients = true,
    .shards_parameters = false,
    .scatters_gradients = true,
}};

}  // namespace
}  // namespace stepsim
