// Two steps in place of all: where a second step leaves what the first has left, it stands for those
// after it.
#pragma once

#include <optional>

#include "sim/engine/simulate.hpp"
#include "sim/ops/op_graph.hpp"
#include "sim/plan/plan_cache.hpp"
#include "sim/scenario/scenario.hpp"

namespace stepsim {

/// A step of warm-up and a measured one.
struct SecondStep {
  Scenario scenario;
  Simulation simulation;
};

/// Absent where the scenario has no more than two steps, where they differ in what they do
/// (steps_are_alike), or where the second does not end as the first has.
std::optional<SecondStep> second_step(const Scenario& scenario, const OpGraph& graph,
                                      PlanCache& cache);

}  // namespace stepsim
