// Adam with 8-bit moments, quantised in blocks (Dettmers et al. 2021, arXiv 2110.02861).
//
// bitsandbytes-foundation/bitsandbytes bitsandbytes/optim/optimizer.py: blocks of 256 elements,
// each with an fp32 scale for each moment; csrc/kernels.cu, kOptimizerStatic8bit2StateBlockwise:
// one kernel reads gradient, weight, moments and scales and writes the last three.
#include "sim/core/registry.hpp"
#include "sim/plan/optimizer_rule.hpp"

namespace stepsim {
namespace {

constexpr double kBlock = 256;

const Registered<OptimizerRule> adam_8bit{{
    .name = "adam-8bit",
    .description = "Adam with moments of one byte and a scale a block of 256",
    .moments = 2,
    .moment_bytes = 1,
    .scale_bytes = 2 * 4 / kBlock,
    .fused = {{.name = "optimizer update", .gradients = 1, .weights = 2, .moments = 4}},
    .foreach_op = {},
}};

}  // namespace
}  // namespace stepsim
