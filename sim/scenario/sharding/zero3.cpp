// ZeRO stage 3 (FSDP full shard): each block's parameters are gathered for forward and again for
// backward.
#include "sim/core/registry.hpp"
#include "sim/scenario/sharding.hpp"

namespace stepsim {
namespace {

const Registered<Sharding> zero3{{
    .name = "zero3",
    .description = "parameters sharded too: each block is gathered before it runs",
    .shards_optimizer = true,
    .shards_gradients = true,
    .shards_parameters = true,
    .scatters_gradients = true,
}};

}  // namespace
}  // namespace stepsim
