// What the step would take in other worlds: with a free resource, without a fault.
#pragma once

#include <functional>

#include "sim/ops/op_graph.hpp"
#include "sim/plan/plan.hpp"
#include "sim/report/measure/metrics.hpp"
#include "sim/report/measure/verdict.hpp"

namespace stepsim {

/// The mean of its measured steps, simulated.
Seconds step_of(const Plan& plan);

/// Sets the stragglers, what each kind of fault costs, the limits that apply, and the verdict;
/// returns these limits. All of it is simulated, and always folded: the answer is the same and it is cheap. Once
/// `is_over` says so, the rest is left out, and the verdict, which would need it.
std::vector<LimitOutcome> add_counterfactuals(Metrics& metrics, const Scenario& scenario,
                                              const OpGraph& graph, const Plan& plan, int replica,
                                              const Timeline& timeline,
                                              const std::function<bool()>& is_over = {});

}  // namespace stepsim
