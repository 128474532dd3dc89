// Distributed Shampoo: blocks of matrices of hidden layers are preconditioned by inverse roots, all
// else takes Adam (Shi et al. 2023, arXiv 2309.06497).
//
// facebookresearch/optimizers distributed_shampoo/distributed_shampoo.py,
// _compute_search_directions: the gradient is averaged, corrected, preconditioned
// (preconditioning.hpp) and scaled, weights decay into it, and it is added. Grafting keeps a second
// moment, makes Adam's step of it and gives what was preconditioned that step's norm
// (_precondition_and_grafting).
#include "sim/core/registry.hpp"
#include "sim/plan/optimizer_rule.hpp"

namespace stepsim {
namespace {

const Registered<OptimizerRule> shampoo{{
    .name = kShampoo,
    .description = "matrices of hidden layers: between inverse roots; all else: Adam",
    .moments = 1,
    .matrices = MatrixUpdate::roots,
    .others = "adam",
    .grafted = {{.name = "second moment", .gradients = 1, .moments = 2},
                {.name = "step of Adam", .moments = 1, .temporaries = 2},
                {.name = "norms of steps", .temporaries = 2},
                {.name = "scale by norms", .temporaries = 2}},
    .fused = {{.name = "average gradient", .gradients = 1, .moments = 2},
              {.name = "correct bias", .moments = 1, .temporaries = 1},
              {.name = "weight decay", .weights = 1, .temporaries = 2, .decays = true},
              {.name = "scale", .temporaries = 2},
              {.name = "add to weights", .weights = 2, .temporaries = 1}},
    .foreach_op = {},
}};

}  // namespace
}  // namespace stepsim
