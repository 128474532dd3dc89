// Slow links and jitter, laid over a plan. Slow GPUs have programs of their own (stage_program).
#pragma once

#include "sim/plan/plan.hpp"

namespace stepsim {

/// Adds the scenario's slow links and jitter to the plan. Throws UserError where
/// `faults.slow_links` names no link.
void add_faults(Plan& plan, const Scenario& scenario, const PlanOptions& options);

}  // namespace stepsim
