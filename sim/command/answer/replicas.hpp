// Runs of a scenario that differ in what is random.
#pragma once

#include "sim/ops/op_graph.hpp"
#include "sim/report/measure/metrics.hpp"
#include "sim/scenario/scenario.hpp"

namespace stepsim {

struct ReplicaOptions {
  bool fold = true;
  int jobs = 0;  ///< at the same time; 0: as many as there are cores
};

/// Simulates run.replicas of them, each in a process of its own, so that the result depends neither
/// on their number at a time nor on their order. After Ctrl-C it has those that were done by then.
/// Throws SimulationError when there are none.
Replicas run_replicas(const Scenario& scenario, const OpGraph& graph,
                      const ReplicaOptions& options);

}  // namespace stepsim
