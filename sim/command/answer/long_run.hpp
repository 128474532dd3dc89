// From steps that are simulated to a run of many days: what a checkpoint costs, and how far the
// run comes.
#pragma once

#include <optional>
#include <vector>

#include "sim/ops/op_graph.hpp"
#include "sim/plan/fault/affected.hpp"
#include "sim/report/measure/metrics.hpp"

namespace stepsim {

/// Simulates a checkpoint after the first measured step, and the same steps without it: the
/// difference is what it costs. Jitter is left out of both. Absent where no checkpoint is written.
std::optional<CheckpointCost> checkpoint_cost(const Scenario& scenario, const OpGraph& graph,
                                              const PlanOptions& options);

/// Measured steps without a checkpoint among them: the timeline's, or where checkpoints were due in
/// it, another simulation's.
std::vector<Seconds> steps_to_draw(const Scenario& scenario, const OpGraph& graph,
                                   const Timeline& timeline, const PlanOptions& options, bool fold);

/// Draws the run that run.horizon asks for. `timeline` is that of the options' replica. REQUIRES:
/// run.horizon; the metrics have their checkpoint and replicas.
LongRun simulate_long_run(const Metrics& metrics, const Scenario& scenario, const OpGraph& graph,
                          const Timeline& timeline, const PlanOptions& options, bool fold);

}  // namespace stepsim
