// Scenario -> op graph -> plan -> timeline -> metrics.
#include "sim/command/answer/answer.hpp"

#include <optional>
#include <ostream>
#include <utility>

#include <fmt/format.h>

#include "sim/command/answer/chaos.hpp"
#include "sim/command/answer/counterfactuals.hpp"
#include "sim/command/answer/long_run.hpp"
#include "sim/command/answer/next_setting.hpp"
#include "sim/command/answer/replicas.hpp"
#include "sim/core/error.hpp"
#include "sim/ops/op_graph.hpp"
#include "sim/plan/plan_cache.hpp"
#include "sim/report/measure/measure.hpp"
#include "sim/scenario/suite/run_record_file.hpp"
#include "sim/validation/recorded_runs.hpp"

namespace stepsim {
std::optional<std::vector<RecordedRuns>> measured_runs(const Library& library,
                                                       std::ostream& notes) {
  const auto go_on = [&](const std::string& why) {
    notes << fmt::format("warning: without the likely error: {}\n", why);
    return std::nullopt;
  };
  try {
    return recorded_runs_of(library);
  } catch (const UserError& error) {
    return go_on(error.what());
  } catch (const IoError& error) {
    return go_on(error.what());
  }
}

std::optional<ExpectedError> likely_error(const Library& library, const Scenario& scenario,
                                          std::ostream& notes) {
  const auto runs = measured_runs(library, notes);
  if (!runs) return std::nullopt;
  return expected_error(traits_of(scenario), *runs);
}

Answer answer_of(const Scenario& scenario, const Library& library, const AnswerOptions& options,
                 std::ostream& notes) {
  const OpGraph graph = build(scenario);
  options.lap("build");
  PlanCache cache;
  std::optional<Replicas> replicas;
  if (scenario.run.replicas > 1) {
    replicas = run_replicas(scenario, graph, {.fold = options.fold, .jobs = options.jobs});
    options.lap("replicas");
    if (replicas->is_interrupted())
      notes << fmt::format("interrupted: {} of {} replicas are done\n", replicas->steps.size(),
                           replicas->asked);
  }
  const int replica = replicas ? replicas->median : 0;
  const PlanOptions of_replica{.replica = replica, .folds = options.fold, .cache = &cache};
  const Plan plan = make_plan(scenario, graph, of_replica);
  options.lap("plan");
  Answer answer{
      .simulation = simulate(
          plan, {.fold = options.fold, .kernels = options.kernels, .shown = options.shown})};
  options.lap("simulate");
  const Timeline& timeline = answer.simulation.timeline;
  Metrics& metrics = answer.metrics = measure(scenario, graph, answer.simulation);
  metrics.provenance.scenario = to_yaml(scenario);
  metrics.replicas = std::move(replicas);
  metrics.chaos = chaos_of(plan, answer.simulation, options.fold);
  const auto limits = add_counterfactuals(metrics, scenario, graph, plan, replica, timeline);
  if (options.reread && !metrics.verdict.is_fault)
    metrics.verdict.next =
        next_setting(metrics, limits, {scenario, plan, options.reread, replica}, options.jobs);
  metrics.checkpoint = checkpoint_cost(scenario, graph, of_replica);
  if (scenario.run.horizon)
    metrics.long_run =
        simulate_long_run(metrics, scenario, graph, timeline, of_replica, options.fold);
  metrics.expected_error = likely_error(library, scenario, notes);
  answer.outcomes = judge(scenario, metrics);
  options.lap("measure");
  return answer;
}

}  // namespace stepsim
