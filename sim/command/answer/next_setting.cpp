// The best of a few simulations; `stepsim explain` does many.
#include "sim/command/answer/next_setting.hpp"

#include <algorithm>
#include <cstddef>

#include <fmt/format.h>

#include "sim/plan/fold.hpp"

namespace stepsim {
namespace {

constexpr std::size_t kMostTasks = 2'000'000;

/// How many settings may be simulated. Counted in tasks of folded plans: that is what they cost,
/// and it is the same whether the step itself was simulated folded or not.
std::size_t affordable(const Plan& plan) {
  std::size_t tasks = 1;
  for (const FoldedRank& rank : fold_plan(plan, true).ranks)
    tasks += plan.program(rank.rank).tasks.size();
  return kMostTasks / tasks;
}

}  // namespace

std::string next_setting(const Metrics& metrics, const std::vector<LimitOutcome>& limits,
                         const ChangeBase& base, int jobs) {
  std::vector<Change> changes = settings_of(promising(metrics, limits), base.scenario);
  if (affordable(base.plan) == 0)
    return "not simulated for so long a step: stepsim explain simulates what could be set "
           "otherwise";
  const bool fits = metrics.memory.fits();
  if (!fits) changes = those_that_fit(changes, base, jobs);
  changes.resize(std::min(changes.size(), affordable(base.plan)));
  const std::vector<ChangeOutcome> outcomes = simulate_changes(changes, base, jobs);
  if (const ChangeOutcome* best = best_setting(metrics, outcomes))
    return next_setting(metrics, *best);
  if (!fits)
    return "none of the settings tried here fits in memory; stepsim search tries all splits";
  return fmt::format(
      "none of {} settings simulated here makes the step shorter and fits in memory; stepsim "
      "explain tries all",
      outcomes.size());
}

}  // namespace stepsim
