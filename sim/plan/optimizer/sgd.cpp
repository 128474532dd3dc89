// Stochastic gradient descent: w -= lr g.
//
// Kernels of the foreach form: pytorch/pytorch torch/optim/sgd.py, _multi_tensor_sgd.
#include "sim/core/registry.hpp"
#include "sim/plan/optimizer_rule.hpp"

namespace stepsim {
namespace {

const Registered<OptimizerRule> sgd{{
    .name = "sgd",
    .description = "w -= lr g; no state",
    .fused = {{.name = "optimizer update", .gradients = 1, .weights = 2}},
    .foreach_op = {{.name = "weight decay", .gradients = 2, .weights = 1, .decays = true},
                   {.name = "add to weights", .gradients = 1, .weights = 2}},
}};

}  // namespace
}  // namespace stepsim
