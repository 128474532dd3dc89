// Gradient descent with momentum: b = mu b + g, w -= lr b.
//
// Kernels of the foreach form: pytorch/pytorch torch/optim/sgd.py, _multi_tensor_sgd.
#include "sim/core/registry.hpp"
#include "sim/plan/optimizer_rule.hpp"

namespace stepsim {
namespace {

const Registered<OptimizerRule> momentum{{
    .name = "momentum",
    .description = "SGD with a momentum buffer",
    .moments = 1,
    .fused = {{.name = "optimizer update", .gradients = 1, .weights = 2, .moments = 2}},
    .foreach_op = {{.name = "weight decay", .gradients = 2, .weights = 1, .decays = true},
                   {.name = "decay momentum", .moments = 2},
                   {.name = "add gradient", .gradients = 1, .moments = 2},
                   {.name = "add to weights", .weights = 2, .moments = 1}},
}};

}  // namespace
}  // namespace stepsim
