// Each replica runs in a forked process of its own.
#include "sim/command/answer/replicas.hpp"

#include <thread>

#include "sim/command/answer/long_run.hpp"
#include "sim/core/error.hpp"
#include "sim/engine/simulate.hpp"
#include "sim/plan/plan_cache.hpp"
#include "sim/process/forked.hpp"
#include "sim/report/measure/measure.hpp"

namespace stepsim {
Replicas run_replicas(const Scenario& scenario, const OpGraph& graph,
                      const ReplicaOptions& options) {
  const int cores = static_cast<int>(std::thread::hardware_concurrency());
  const auto answers =
      run_forked(scenario.run.replicas, options.jobs > 0 ? options.jobs : cores, [&](int replica) {
        PlanCache cache;
        const PlanOptions of_replica{.replica = replica, .folds = options.fold, .cache = &cache};
        const Plan plan = make_plan(scenario, graph, of_replica);
        const auto simulation = simulate(plan, {.spans = false, .fold = options.fold});
        std::vector<double> times{mean_step(simulation.timeline).seconds()};
        if (scenario.run.horizon) {
          for (const Seconds step :
               steps_to_draw(scenario, graph, simulation.timeline, of_replica, options.fold))
            times.push_back(step.seconds());
        }
        return text_of(times);
      });
  Replicas replicas{.asked = scenario.run.replicas};
  std::vector<int> numbers;
  for (std::size_t i = 0; i < answers.size(); ++i) {
    if (!answers[i]) continue;
    const std::vector<double> times = numbers_of(*answers[i]);
    replicas.steps.emplace_back(times.front());
    if (times.size() > 1) replicas.samples.emplace_back(times.begin() + 1, times.end());
    numbers.push_back(static_cast<int>(i));
  }
  if (numbers.empty()) throw SimulationError("interrupted before the first replica was done");
  replicas.statistics = statistics_of(replicas.steps);
  replicas.median = numbers[static_cast<std::size_t>(index_of_median(replicas.steps))];
  return replicas;
}

}  // namespace stepsim
