// What comes after the last pass of a stage: gradients, norm, update, parameters.
#pragma once

#include <vector>

#include "sim/ops/op_graph.hpp"
#include "sim/plan/memory/memory.hpp"
#include "sim/plan/plan.hpp"
#include "sim/search/group_shapes.hpp"
#include "sim/search/stage_costs.hpp"

namespace stepsim {

/// The least seconds that each part of a step's end takes.
struct StepEndCost {
  double reduce = 0;        ///< where nothing overlaps it
  double reduce_chunk = 0;  ///< overlapped: for the chunk that is done last
  double norm = 0;          ///< until the stage knows its part of it
  double update = 0;        ///< until the stage has its new parameters
};

/// Costs by stage; stages of equal parameters have equal ones. They do not depend on micro-batches.
std::vector<StepEndCost> step_end_costs(const Scenario& scenario, const Strategy& strategy,
                                        const OpGraph& graph, const std::vector<StageCost>& stages,
                                        const SplitShapes& shapes, Plan& scratch);

/// The stage's parameters, and who shares them.
StageParameters parameters_of(const Scenario& scenario, const Strategy& strategy, double dense,
                              double experts);

}  // namespace stepsim
