// SOAP: matrices of hidden layers take Adam in the eigenbases of Shampoo's preconditioners, all
// else takes Adam (Vyas et al. 2024, arXiv 2409.11321).
//
// NVIDIA-NeMo/Emerging-Optimizers emerging_optimizers/legacy_soap/soap.py, step: weights decay, a
// compiled kernel makes Adam's step of what was turned (preconditioning.hpp), and the step that was
// turned back is added.
#include "sim/core/registry.hpp"
#include "sim/plan/optimizer_rule.hpp"

namespace stepsim {
namespace {

const Registered<OptimizerRule> soap{{
    .name = kSoap,
    .description = "matrices of hidden layers: Adam in eigenbases of Shampoo; all else: Adam",
    .moments = 2,
    .matrices = MatrixUpdate::eigenbases,
    .others = "adam",
    .fused = {{.name = "moments", .moments = 4, .temporaries = 2},
              {.name = "weight decay", .weights = 2, .decays = true},
              {.name = "add to weights", .weights = 2, .temporaries = 1}},
    .foreach_op = {},
}};

}  // namespace
}  // namespace stepsim
