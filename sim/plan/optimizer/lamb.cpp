// LAMB (You et al. 2019, arXiv 1904.00962): Adam whose steps are scaled tensor by tensor.
//
// NVIDIA/apex csrc/multi_tensor_lamb.cu: norms of the weights; Adam's step, written over the
// gradients; norms of the steps; and the steps scaled by both, taken off the weights.
#include "sim/core/registry.hpp"
#include "sim/plan/optimizer_rule.hpp"

namespace stepsim {
namespace {

const Registered<OptimizerRule> lamb{{
    .name = "lamb",
    .description = "Adam with steps scaled by the norms of each tensor and its step",
    .moments = 2,
    .whole_tensors = true,
    .fused = {{.name = "norms of weights", .weights = 1},
              {.name = "steps", .gradients = 2, .weights = 1, .moments = 4},
              {.name = "norms of steps", .gradients = 1},
              {.name = "optimizer update", .gradients = 1, .weights = 2}},
    .foreach_op = {},
}};

}  // namespace
}  // namespace stepsim
