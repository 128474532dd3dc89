// Distributed data parallel: full copies, gradients all-reduced in buckets (Li et al. 2020,
// section 3.2).
#include "sim/core/registry.hpp"
#include "sim/scenario/sharding.hpp"

namespace stepsim {
namespace {

const Registered<Sharding> ddp{{
    .name = "ddp",
    .description = "every rank keeps everything; gradients are all-reduced in buckets",
    .shards_optimizer = false,
    .shards_gradients = false,
    .shards_parameters = false,
    .scatters_gradients = false,
}};

}  // namespace
}  // namespace stepsim
