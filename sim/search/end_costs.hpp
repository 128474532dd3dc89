// What comes after the last pass of a stage: gradients, norm, update, parameters.
#pragma once

#include <vector>

#include "sim/ops/op_graph.hpp"
#include "sim/plan/memory/memory.hpp"
#include "sim/plan/plan.hpp"
#include "sim/search/group_shapes.hpp"
#include "sim/search/stage_costs.hpp"

namespace stepsim {

/// Seconds, at least.
struct EndCost {
  double reduce = 0;        ///< where nothing overlaps it
  double reduce_chunk = 0;  ///< overlapped: of the parameters of the chunk that is done last
  double norm = 0;          ///< until the stage knows its part of it
  double update = 0;        ///< and has its parameters
};

/// By stage; those of equal parameters are alike. They do not depend on micro-batches.
std::vector<EndCost> end_costs(const Scenario& scenario, const Strategy& strategy,
                               const OpGraph& graph, const std::vector<StageCost>& stages,
                               const SplitShapes& shapes, Plan& scratch);

/// The stage's parameters, and who shares them.
StageParameters parameters_of(const Scenario& scenario, const Strategy& strategy, double dense,
                              double experts);

}  // namespace stepsim
