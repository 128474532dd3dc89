// Passes of ZeRO 3: each block's parameters are gathered before it runs, its gradients scattered
// after its backward.
#pragma once

#include <cstddef>
#include <vector>

#include "sim/plan/pass/pass_writer.hpp"

namespace stepsim {

/// Whether passes of these ranks are such.
bool shards_parameters(const PlanDraft& draft, const StageShape& shape);

/// Whether they gather once in a step.
bool keeps_gathered(const PlanDraft& draft, const StageShape& shape);

/// `blocks`: indices into OpGraph::blocks, in order of the model; `gathers`: whether their
/// parameters are not there yet.
void run_sharded_forward(PassWriter& writer, const PlanDraft& draft, const StageShape& shape,
                         const std::vector<std::size_t>& blocks, bool gathers);
/// What was given up is gathered again, each block's gradients are scattered.
void run_sharded_backward(PassWriter& writer, const PlanDraft& draft, const StageShape& shape,
                          const std::vector<std::size_t>& blocks, PassKind pass,
                          Reduction reduction);

}  // namespace stepsim
