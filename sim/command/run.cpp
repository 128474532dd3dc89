// stepsim run: scenario -> op graph -> plan -> timeline -> metrics -> report.
#include <chrono>
#include <filesystem>
#include <optional>
#include <ostream>
#include <utility>

#include <fmt/format.h>
#include <sys/resource.h>

#include "sim/command/command.hpp"
#include "sim/command/counterfactuals.hpp"
#include "sim/command/load.hpp"
#include "sim/command/long_run.hpp"
#include "sim/command/replicas.hpp"
#include "sim/engine/simulate.hpp"
#include "sim/ops/op_graph.hpp"
#include "sim/plan/plan.hpp"
#include "sim/report/csv.hpp"
#include "sim/report/json.hpp"
#include "sim/report/measure.hpp"
#include "sim/report/text.hpp"
#include "sim/report/trace.hpp"
#include "sim/scenario/run_record_file.hpp"
#include "sim/validation/run_traits.hpp"

namespace stepsim {
namespace {

using Clock = std::chrono::steady_clock;

/// Wall time of each stage, for --stats.
class StopWatch {
 public:
  void lap(const char* stage) {
    const auto now = Clock::now();
    stats_.stages_s.emplace_back(stage, std::chrono::duration<double>(now - last_).count());
    last_ = now;
  }
  RunStats finish() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    stats_.peak_rss_bytes = static_cast<double>(usage.ru_maxrss) * 1024;
    stats_.wall_s = std::chrono::duration<double>(Clock::now() - begin_).count();
    return stats_;
  }

 private:
  Clock::time_point begin_ = Clock::now();
  Clock::time_point last_ = begin_;
  RunStats stats_;
};

std::string formatted(const RunOptions& options, const Metrics& metrics,
                      const std::vector<ExpectationOutcome>& outcomes, const RunStats& stats) {
  if (options.format == "json") return to_json(metrics, outcomes, options.stats ? &stats : nullptr);
  if (options.format == "csv") return to_csv(metrics);
  return to_table(metrics, outcomes, {.colour = options.colour, .width = options.width});
}

std::string stats_line(const RunStats& stats) {
  std::string text =
      fmt::format("{:.2f} s wall, {:.0f} MB;", stats.wall_s, stats.peak_rss_bytes / 1e6);
  for (const auto& [stage, seconds] : stats.stages_s)
    text += fmt::format(" {} {:.3f} s", stage, seconds);
  return text + "\n";
}

/// That of measured runs like it; nothing where no record of any is found.
std::optional<ExpectedError> likely_error(const std::string& path, const Scenario& scenario) {
  const auto runs = recorded_runs_of(library_for(path));
  if (!runs) return std::nullopt;
  return expected_error(traits_of(scenario), *runs);
}

/// Before anything is simulated.
void check_trace(const RunOptions& options) {
  namespace fs = std::filesystem;
  const std::string& trace = options.trace;
  std::error_code ignored;
  if (fs::equivalent(trace, options.scenario.path, ignored))
    throw UserError(fmt::format("--trace {} would replace the scenario", trace));
  const bool is_file = !fs::exists(trace, ignored) || fs::is_regular_file(trace, ignored);
  if (is_file && !trace.ends_with(".json") && !trace.ends_with(".json.gz"))
    throw UserError(
        fmt::format("--trace '{}': the name of a trace ends in .json or .json.gz", trace));
}

}  // namespace

ExitCode run(const RunOptions& options, std::ostream& out, std::ostream& notes) {
  StopWatch watch;
  if (!options.trace.empty()) check_trace(options);
  const Scenario scenario = load(options.scenario);
  for (const std::string& note : scenario.model.notes)
    notes << fmt::format("note: model {}: {}\n", scenario.model.name, note);
  watch.lap("load");
  const OpGraph graph = build(scenario);
  watch.lap("build");
  std::optional<Replicas> replicas;
  if (scenario.run.replicas > 1) {
    replicas = run_replicas(scenario, graph, {.fold = options.fold, .jobs = options.jobs});
    watch.lap("replicas");
    const auto done = static_cast<int>(replicas->steps.size());
    if (done < replicas->asked)
      notes << fmt::format("interrupted: {} of {} replicas are done\n", done, replicas->asked);
  }
  const int replica = replicas ? replicas->median : 0;
  const Plan plan = make_plan(scenario, graph, {.replica = replica});
  watch.lap("plan");
  const Simulation simulation =
      simulate(plan, {.fold = options.fold, .kernels = !options.trace.empty()});
  watch.lap("simulate");
  Metrics metrics = measure(scenario, graph, simulation);
  metrics.replicas = std::move(replicas);
  add_counterfactuals(metrics, scenario, graph, plan, replica, simulation.timeline);
  // After all else: a write may last for minutes, and SimGrid's clock goes on from run to run.
  metrics.checkpoint = checkpoint_cost(scenario, graph, replica);
  if (scenario.run.horizon)
    metrics.long_run = far(metrics, scenario, graph, simulation.timeline, replica, options.fold);
  metrics.expected_error = likely_error(options.scenario.path, scenario);
  const auto outcomes = judge(scenario, metrics);
  watch.lap("measure");
  if (!options.trace.empty()) {
    save_trace(options.trace, simulation.timeline);
    watch.lap("trace");
    notes << "trace in " << options.trace << ": open https://ui.perfetto.dev and drop it there\n";
  }
  const RunStats stats = watch.finish();
  out << formatted(options, metrics, outcomes, stats);
  if (options.stats && options.format != "json") notes << stats_line(stats);
  for (const ExpectationOutcome& outcome : outcomes) {
    if (!outcome.holds) return ExitCode::expectation_failed;
  }
  return ExitCode::ok;
}

}  // namespace stepsim
