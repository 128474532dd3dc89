// Adam and AdamW (Kingma and Ba 2014; Loshchilov and Hutter 2017): two moments.
//
// Fused (NVIDIA/apex csrc/multi_tensor_adam.cu): gradient, weight and moments are read, the last
// three written. Foreach: pytorch/pytorch torch/optim/adam.py, _multi_tensor_adam, the path that is
// not capturable, with decoupled weight decay. Composed: google-research/bert optimization.py,
// AdamWeightDecayOptimizer.apply_gradients; what is assigned at last takes over the memory of the
// result (tensorflow/core/framework/op_kernel.h, forward_input), so that nothing moves.
#include "sim/core/registry.hpp"
#include "sim/plan/optimizer_rule.hpp"

namespace stepsim {
namespace {

const Registered<OptimizerRule> adam{{
    .name = "adam",
    .description = "Adam and AdamW: two moments",
    .moments = 2,
    .fused = {{.name = "optimizer update", .gradients = 1, .weights = 2, .moments = 4}},
    .foreach_op = {{.name = "weight decay", .weights = 2, .decays = true},
                   {.name = "lerp first moment", .gradients = 1, .moments = 2},
                   {.name = "decay second moment", .moments = 2},
                   {.name = "add squared gradient", .gradients = 1, .moments = 2},
                   {.name = "root of second moment", .moments = 1, .temporaries = 1},
                   {.name = "bias correction", .temporaries = 2},
                   {.name = "add epsilon", .temporaries = 2},
                   {.name = "add to weights", .weights = 2, .moments = 1, .temporaries = 1}},
    .composed = {{.name = "decayed first moment", .moments = 1, .temporaries = 1},
                 {.name = "share of gradient", .gradients = 1, .temporaries = 1},
                 {.name = "first moment", .temporaries = 3},
                 {.name = "decayed second moment", .moments = 1, .temporaries = 1},
                 {.name = "squared gradient", .gradients = 1, .temporaries = 1},
                 {.name = "share of square", .temporaries = 2},
                 {.name = "second moment", .temporaries = 3},
                 {.name = "root of second moment", .temporaries = 2},
                 {.name = "add epsilon", .temporaries = 2},
                 {.name = "quotient", .temporaries = 3},
                 {.name = "share of weights", .weights = 1, .temporaries = 1, .decays = true},
                 {.name = "weight decay", .temporaries = 3, .decays = true},
                 {.name = "learning rate", .temporaries = 2},
                 {.name = "new weights", .weights = 1, .temporaries = 2}},
}};

}  // namespace
}  // namespace stepsim
