// From a timeline to the numbers that answer the user.
#pragma once

#include "sim/engine/simulate.hpp"
#include "sim/ops/op_graph.hpp"
#include "sim/report/measure/metrics.hpp"
#include "sim/scenario/scenario.hpp"

namespace stepsim {

/// Everything but the verdict. Rates and fractions are over the measured steps; the breakdown is
/// that of the stage whose compute row waits least, which is the one that sets the pace.
Metrics measure(const Scenario& scenario, const OpGraph& graph, const Simulation& simulation);

/// How long each measured step took.
std::vector<Seconds> step_times(const Timeline& timeline);

/// The mean of the measured steps.
Seconds mean_step(const Timeline& timeline);

/// The scenario's expectations against the result.
std::vector<ExpectationOutcome> judge(const Scenario& scenario, const Metrics& metrics);

}  // namespace stepsim
