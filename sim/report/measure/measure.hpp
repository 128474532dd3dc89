// From a timeline to the numbers that answer the user.
#pragma once

#include "sim/engine/simulate.hpp"
#include "sim/ops/op_graph.hpp"
#include "sim/report/measure/metrics.hpp"
#include "sim/scenario/scenario.hpp"

namespace stepsim {

/// All metrics of a run except the verdict. Rates and fractions are over the measured steps. The
/// breakdown is that of the stage whose compute row waits least, because that stage sets the pace.
Metrics measure(const Scenario& scenario, const OpGraph& graph, const Simulation& simulation);

/// The time of each measured step.
std::vector<Seconds> step_times(const Timeline& timeline);

/// The mean time of the measured steps.
Seconds mean_step(const Timeline& timeline);

/// Compares the scenario's expectations with the result.
std::vector<ExpectationOutcome> judge(const Scenario& scenario, const Metrics& metrics);

}  // namespace stepsim
