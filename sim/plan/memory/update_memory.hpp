// Memory of an update beside its state: gradients in fp32, and what a matrix needs to be iterated.
#pragma once

#include "sim/ops/op_graph.hpp"
#include "sim/plan/program/newton_schulz.hpp"
#include "sim/scenario/scenario.hpp"

namespace stepsim {

/// Bytes of tensors that the update of one matrix holds at once, beside weight, gradient and
/// momentum: with Nesterov's momentum its sum with the gradient, in fp32; the whole matrix, where
/// tensor ranks gather it, in fp32; and of the part that is iterated X in 16 bits and the next X, A
/// and B, or before that X in fp32 and in 16 bits (NVIDIA-NeMo/Emerging-Optimizers
/// emerging_optimizers/orthogonalized_optimizers/muon_utils.py, newton_schulz). `ranks`: those that
/// split the matrix.
Bytes update_bytes(const WeightMatrix& matrix, const Muon& muon, std::int64_t ranks);

/// What an update of the stage needs: fp32 copies of narrow gradients where it works on fp32 weights,
/// and the most that a matrix needs, for matrices are updated one by one, where the optimizer knows
/// any.
Bytes update_bytes(const Scenario& scenario, const OpGraph& graph, int stage);

}  // namespace stepsim
