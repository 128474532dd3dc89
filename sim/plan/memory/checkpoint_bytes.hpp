// How much a checkpoint holds, and which part of it a rank writes.
//
// A checkpoint holds what training goes on from: parameters, fp32 master weights and optimizer
// state, as the memory model counts them (Rajbhandari et al. 2020, section 3.1: 14 bytes a
// parameter for Adam in mixed precision, gradients left out), and embedding tables.
#pragma once

#include "sim/ops/op_graph.hpp"
#include "sim/plan/program/stage_shape.hpp"

namespace stepsim {

/// Bytes of the checkpoint, of all ranks together: checkpoint.size, or what follows from the model.
Bytes checkpoint_bytes(const Scenario& scenario, const OpGraph& graph);

/// What one rank writes, and how much of it comes from its GPU: the state of an offloaded optimizer
/// does not.
struct CheckpointPart {
  Bytes written, staged;
};
CheckpointPart checkpoint_part(const Scenario& scenario, const OpGraph& graph,
                               const StageShape& shape);

/// Bytes that have to be gathered before one rank can write them: everything of its parameters that
/// is sharded.
Bytes gathered_for_checkpoint(const Scenario& scenario, const OpGraph& graph, int stage,
                              bool expert);

}  // namespace stepsim
