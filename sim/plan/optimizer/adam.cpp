// Adam and AdamW (Kingma and Ba 2014; Loshchilov and Hutter 2017): two moments.
//
// Fused (NVIDIA/apex csrc/multi_tensor_adam.cu): gradient, weight and moments are read, the last
// three written. Foreach: pytorch/pytorch torch/optim/adam.py, _multi_tensor_adam, the path that is
// not capturable, with decoupled weight decay.
#include "sim/core/registry.hpp"
#include "sim/plan/optimizer_rule.hpp"

namespace stepsim {
namespace {

const Registered<OptimizerRule> adam{{
    .name = "adam",
    .description = "Adam and AdamW: two moments",
    .moments = 2,
    .fused = {{.name = "optimizer update", .gradients = 1, .weights = 2, .moments = 4}},
    .foreach_op = {{.name = "weight decay", .weights = 2},
                   {.name = "lerp first moment", .gradients = 1, .moments = 2},
                   {.name = "decay second moment", .moments = 2},
                   {.name = "add squared gradient", .gradients = 1, .moments = 2},
                   {.name = "root of second moment", .moments = 1, .temporaries = 1},
                   {.name = "bias correction", .temporaries = 2},
                   {.name = "add epsilon", .temporaries = 2},
                   {.name = "add to weights", .weights = 2, .moments = 1, .temporaries = 1}},
}};

}  // namespace
}  // namespace stepsim
