// What a changed scenario's step takes, and whether it fits, each change as if run by itself.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sim/plan/plan.hpp"
#include "sim/plan/what_if.hpp"
#include "sim/report/measure/explain.hpp"
#include "sim/report/measure/metrics.hpp"
#include "sim/scenario/scenario.hpp"

namespace stepsim {

/// Reads the scenario again with these settings on top. Throws UserError when they do not fit.
using Reread = std::function<Scenario(const std::vector<std::string>& settings)>;

/// What is changed, and what the changes are compared with.
struct ChangeBase {
  const Scenario& scenario;
  const Plan& plan;
  const Reread& reread;
  int replica = 0;
};

/// What the changed scenario's simulation comes to, with the plan that was simulated. REQUIRES: it
/// fits the scenario, as one with an outcome does.
struct ChangedRun {
  Plan plan;
  Metrics metrics;  ///< without a verdict
};
ChangedRun changed_run(const Change& change, const ChangeBase& base);

/// Nothing, where the reader or the planner says that the change does not fit the scenario, or
/// stages would wait for each other for ever.
std::optional<ChangeOutcome> simulate_change(const Change& change, const ChangeBase& base);

/// The changes with which the scenario fits in memory, which takes no simulation.
std::vector<Change> those_that_fit(const std::vector<Change>& changes, const ChangeBase& base,
                                   int jobs = 0);

/// Simulates each change in a process of its own, at most `jobs` at a time (0: as many as there are
/// cores). Changes that do not fit the scenario, or that Ctrl-C came before, are left out.
std::vector<ChangeOutcome> simulate_changes(const std::vector<Change>& changes,
                                            const ChangeBase& base, int jobs = 0);

}  // namespace stepsim
