// Muon: matrices of hidden layers take their momentum made orthogonal, all else takes Adam (Jordan
// et al. 2024, kellerjordan.github.io/posts/muon).
//
// NVIDIA-NeMo/Emerging-Optimizers emerging_optimizers/orthogonalized_optimizers/
// orthogonalized_optimizer.py, step: weights decay, the momentum takes in the gradient, what became
// orthogonal (newton_schulz.hpp) is scaled and added, matrix by matrix. Which parameters are whose:
// NVIDIA/Megatron-LM megatron/core/optimizer/emerging_optimizers.py, _is_muon_excluded.
#include "sim/core/registry.hpp"
#include "sim/plan/optimizer_rule.hpp"

namespace stepsim {
namespace {

const Registered<OptimizerRule> muon{{
    .name = "muon",
    .description = "matrices of hidden layers: orthogonal momentum; all else: Adam",
    .moments = 1,
    .matrices = MatrixUpdate::orthogonal,
    .others = "adam",
    .fused = {{.name = "weight decay", .weights = 2, .decays = true},
              {.name = "momentum", .gradients = 1, .moments = 2},
              {.name = "scale", .temporaries = 2},
              {.name = "add to weights", .weights = 2, .temporaries = 1}},
    .foreach_op = {},
}};

}  // namespace
}  // namespace stepsim
