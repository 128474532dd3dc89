// LARS (You et al. 2017, arXiv 1708.03888, equations 5 and 6): momentum whose learning rate is
// scaled, tensor by tensor, with the norm of the weights over that of their gradient.
//
// NVIDIA's ResNet-50 of MLPerf (mlcommons/training_results_v3.1@b93fbdd:NVIDIA/benchmarks/resnet/
// implementations/mxnet/common/optimizer.py, SGDwFASTLARSV2): the squares of weights as passes use
// them, those of gradients, a rate for each tensor from both, and SGD with momentum. Biases and
// norms have no such rate there, as in the paper; their share of a sweep is counted all the same.
#include "sim/core/registry.hpp"
#include "sim/plan/optimizer_rule.hpp"

namespace stepsim {
namespace {

const Registered<OptimizerRule> lars{{
    .name = "lars",
    .description = "momentum with rates scaled by the norms of each tensor and its gradient",
    .moments = 1,
    .whole_tensors = true,
    .fused = {{.name = "norms of weights", .copies = 1},
              {.name = "norms of gradients", .gradients = 1},
              {.name = "rates of tensors"},
              {.name = "optimizer update", .gradients = 1, .weights = 2, .moments = 2}},
    .foreach_op = {},
}};

}  // namespace
}  // namespace stepsim
