// stepsim explain of a trace that stepsim wrote: the report of its run, from what was read.
#include <ostream>
#include <utility>

#include <fmt/format.h>

#include "sim/command/answer/counterfactuals.hpp"
#include "sim/command/explain.hpp"
#include "sim/command/page/step_timeline.hpp"
#include "sim/core/source.hpp"
#include "sim/page/page.hpp"
#include "sim/plan/load.hpp"
#include "sim/plan/plan_cache.hpp"
#include "sim/process/patience.hpp"
#include "sim/recording/simulated/read_simulated.hpp"
#include "sim/recording/simulated/simulated_head.hpp"
#include "sim/report/measure/measure.hpp"
#include "sim/report/recording/simulated_report.hpp"
#include "sim/report/run/run_report.hpp"

namespace stepsim {
namespace {

/// Refuses ranks and stages that the scenario has not: the planner would be asked for them.
void check_ranks(const SimulatedTrace& trace, const Scenario& scenario) {
  const int gpus = scenario.cluster.gpus(), stages = scenario.parallelism.pipeline.stages;
  for (const RankTimeline& rank : trace.timeline.ranks) {
    const bool is_here = rank.rank < gpus && rank.stage < stages && rank.multiplicity <= gpus &&
                         (rank.members.empty() || rank.members.back() < gpus);
    if (!is_here)
      refuse_damaged(trace.file, fmt::format("its scenario has no such rank {}", rank.rank));
  }
}

/// The profiles may be other ones now than when the trace was written.
void compare_hashes(SimulatedTrace& trace, const Metrics& metrics) {
  for (const auto& [name, hash] : trace.head.hashes) {
    for (const auto& [here, hash_here] : metrics.provenance.hashes) {
      if (here == name && hash_here != hash && here != "scenario")
        trace.not_known.push_back(fmt::format(
            "what the profile of {} was: the one here is another, and what the step would take "
            "otherwise is simulated with it",
            name));
    }
  }
}

/// Measures what was read. The trace lends its timeline meanwhile, which may be large.
Metrics metrics_of(SimulatedTrace& trace, const Scenario& scenario, const OpGraph& graph) {
  const SimulatedHead& head = trace.head;
  const EngineStats engine{.ranks_total = head.ranks_total,
                           .ranks_simulated = static_cast<std::int64_t>(head.simulated),
                           .events = head.events,
                           .kernels = head.kernels,
                           .transfers = head.transfers};
  Simulation simulation{std::move(trace.timeline), engine};
  try {
    Metrics metrics = measure(scenario, graph, simulation);
    trace.timeline = std::move(simulation.timeline);
    return metrics;
  } catch (const InternalError&) {  // of a critical path, which a simulation's timeline always has
    refuse_damaged(trace.file, "its operations wait for each other in a circle");
  }
}

}  // namespace

ExitCode explain_trace(const ExplainOptions& options, std::ostream& out, std::ostream& notes) {
  const std::string& path = options.scenario.path;
  if (!options.scenario.overrides.empty())
    throw UserError(
        fmt::format("{}: --set changes a scenario; a trace is as it was: stepsim run "
                    "SCENARIO --set ... --trace FILE writes another",
                    quoted_path(path)));
  Patience patience(options.screen.progress);
  patience.begins("reading the trace");
  SimulatedTrace trace = read_simulated(path);
  const Output page = html_output(options.html, options.force, kExplainPages);
  check_outputs({page});
  const Scenario scenario =
      parse_scenario(trace.head.yaml, path, library_for(path), {}, known_names());
  check_ranks(trace, scenario);
  patience.begins("simulating what the step would be otherwise");
  const OpGraph graph = build(scenario);
  PlanCache cache;
  const int replica = trace.head.replica;
  const Plan plan =
      make_plan(scenario, graph, {.replica = replica, .folds = true, .cache = &cache});
  Metrics metrics = metrics_of(trace, scenario, graph);
  add_counterfactuals(metrics, scenario, graph, plan, replica, trace.timeline);
  if (!metrics.verdict.is_fault) metrics.verdict.next = trace.head.next;
  compare_hashes(trace, metrics);
  if (!page.path.empty()) {
    metrics.provenance.scenario = trace.head.yaml;
    save_page(page,
              {.kind = "trace",
               .title = trace.head.scenario + ": a step, read back",
               .documents = {{"result", to_json(trace, metrics)},
                             {"run", to_json(metrics, {}, nullptr)},
                             {"timeline", step_timeline_json(scenario, graph, plan, trace.timeline,
                                                             trace.head.level)}}},
              notes);
  }
  patience.end();
  out << (options.format == "json" ? to_json(trace, metrics)
                                   : to_table(trace, metrics, options.screen));
  return ExitCode::ok;
}

}  // namespace stepsim
