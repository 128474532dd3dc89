// Simulates two steps and compares their ends.
#include "sim/command/answer/second_step.hpp"

#include "sim/plan/plan.hpp"
#include "sim/plan/steps_alike.hpp"
#include "sim/timeline/repeating.hpp"

namespace stepsim {

std::optional<SecondStep> second_step(const Scenario& scenario, const OpGraph& graph,
                                      PlanCache& cache) {
  const bool is_shorter = scenario.run.warmup + scenario.run.steps > 2;
  if (!is_shorter || scenario.run.warmup == 0 || !steps_are_alike(scenario)) return std::nullopt;
  SecondStep second{scenario, {}};
  second.scenario.run.warmup = second.scenario.run.steps = 1;
  second.simulation = simulate(make_plan(second.scenario, graph, {.folds = true, .cache = &cache}));
  if (!last_step_repeats(second.simulation.timeline)) return std::nullopt;
  return second;
}

}  // namespace stepsim
