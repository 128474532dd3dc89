// Memory of an update that multiplies matrices: what the largest of a stage needs beside its state.
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

/// The most that a matrix of the stage needs, for matrices are updated one by one; nothing where
/// the optimizer knows no matrices.
Bytes update_bytes(const Scenario& scenario, const OpGraph& graph, int stage);

}  // namespace stepsim
