// ZeRO stage 1: reduce-scatter of the gradients, update of a shard, all-gather of the parameters.
#include "sim/core/registry.hpp"
#include "sim/scenario/sharding.hpp"

namespace stepsim {
namespace {

const Registered<Sharding> zero1{{
    .name = "zero1",
    .description = "the optimizer state is sharded; gradients are scattered, parameters gathered",
    .shards_optimizer = true,
    .shards_gradients = false,
    .shards_parameters = false,
    .scatters_gradients = true,
}};

}  // namespace
}  // namespace stepsim
