// What the step would take in other worlds: with a free resource, without a fault.
#pragma once

#include "sim/ops/op_graph.hpp"
#include "sim/plan/plan.hpp"
#include "sim/report/metrics.hpp"

namespace stepsim {

/// Sets the stragglers, what each kind of fault costs, and the verdict. All of it is simulated, and
/// always folded: the answer is the same and it is cheap.
void add_counterfactuals(Metrics& metrics, const Scenario& scenario, const OpGraph& graph,
                         const Plan& plan, int replica, const Timeline& timeline);

}  // namespace stepsim
