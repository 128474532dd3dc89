// stepsim run: a scenario and its answer, as a report.
#include "sim/command/run.hpp"

#include <chrono>
#include <filesystem>
#include <ostream>

#include <fmt/format.h>
#include <sys/resource.h>

#include "sim/command/answer/answer.hpp"
#include "sim/command/page/step_timeline.hpp"
#include "sim/page/page.hpp"
#include "sim/plan/load.hpp"
#include "sim/process/patience.hpp"
#include "sim/report/run/run_report.hpp"
#include "sim/report/run/trace.hpp"
#include "sim/report/run/trace_facts.hpp"
#include "sim/scenario/read/assumed_keys.hpp"
#include "sim/text/file.hpp"

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

/// What follows a stage, in words.
const char* after(const std::string& stage, const Scenario& scenario) {
  if (stage == "load") return "building the graph of operations";
  if (stage == "build" && scenario.run.replicas > 1) return "simulating the replicas";
  if (stage == "build" || stage == "replicas") return "planning";
  if (stage == "plan") return "simulating";
  if (stage == "simulate") return "simulating what the step would be otherwise";
  return "writing";
}

std::string formatted(const RunOptions& options, const Metrics& metrics,
                      const std::vector<ExpectationOutcome>& outcomes, const RunStats& stats) {
  if (options.format == "json") return to_json(metrics, outcomes, options.stats ? &stats : nullptr);
  if (options.format == "csv") return to_csv(metrics);
  return to_table(metrics, outcomes, options.screen);
}

std::string stats_line(const RunStats& stats) {
  std::string text =
      fmt::format("{:.2f} s wall, {:.0f} MB;", stats.wall_s, stats.peak_rss_bytes / 1e6);
  for (const auto& [stage, seconds] : stats.stages_s)
    text += fmt::format(" {} {:.3f} s", stage, seconds);
  return text + "\n";
}

Output trace_output(const RunOptions& options) {
  return {.role = "--trace", .path = options.trace, .maker = trace_maker(), .force = options.force};
}

/// Before anything is simulated, and when all has been read.
void check_files(const RunOptions& options) {
  namespace fs = std::filesystem;
  const std::string& trace = options.trace;
  std::error_code ignored;
  check_outputs({trace_output(options), html_output(options.html, options.force, {"run"})});
  if (trace.empty()) return;
  const bool is_file = !fs::exists(trace, ignored) || fs::is_regular_file(trace, ignored);
  if (is_file && !trace.ends_with(".json") && !trace.ends_with(".json.gz"))
    throw UserError(
        fmt::format("--trace '{}': the name of a trace ends in .json or .json.gz", trace));
}

/// What is written besides the timeline needs the graph and the plan, which the answer does not
/// keep.
void write_trace(const RunOptions& options, const TimelineChoice& choice, const Scenario& scenario,
                 const Answer& answer) {
  const Metrics& metrics = answer.metrics;
  const OpGraph graph = build(scenario);
  const Plan plan = make_plan(scenario, graph, {.folds = options.fold});
  TraceFacts facts(scenario, graph, plan);
  const TraceHead head{.scenario = metrics.scenario,
                       .yaml = metrics.provenance.scenario,
                       .next = metrics.verdict.next,
                       .level = options.trace_words.level,
                       .replica = metrics.replicas ? metrics.replicas->median : 0,
                       .engine = answer.simulation.stats,
                       .hashes = metrics.provenance.hashes};
  save_trace(trace_output(options), answer.simulation.timeline,
             {.choice = choice, .head = &head, .facts = &facts});
}

void write_page(const RunOptions& options, const Scenario& scenario, const Answer& answer,
                Patience& patience, std::ostream& notes) {
  const Metrics& metrics = answer.metrics;
  const int replica = metrics.replicas ? metrics.replicas->median : 0;
  patience.begins("simulating the step that the page shows");
  const HtmlPage page{
      .kind = "run",
      .title = metrics.scenario + ": a step",
      .documents = {
          {"result", to_json(metrics, answer.outcomes, nullptr)},
          {"timeline", step_timeline_json(scenario, {.fold = options.fold, .replica = replica})}}};
  patience.end();
  save_page(html_output(options.html, options.force, {"run"}), page, notes);
}

}  // namespace

ExitCode run(const RunOptions& options, std::ostream& out, std::ostream& notes) {
  StopWatch watch;
  Patience patience(options.screen.progress);
  const Library library = library_for(options.scenario.path);
  const Scenario scenario = load(options.scenario, library);
  check_files(options);
  for (const std::string& note : scenario.model.notes)
    notes << fmt::format("note: model {}: {}\n", scenario.model.name, note);
  const TimelineChoice choice = trace_choice(options.trace_words, scenario);
  const auto lap = [&](const char* stage) {
    watch.lap(stage);
    patience.begins(after(stage, scenario));
  };
  lap("load");
  Answer answer = answer_of(
      scenario, library,
      {.fold = options.fold,
       .jobs = options.jobs,
       .kernels = !options.trace.empty() && options.trace_words.level == "kernel",
       .shown = choice.ranks,
       .reread = [&](const auto& settings) { return load(options.scenario, settings, library); },
       .lap = lap},
      notes);
  answer.metrics.assumed = assumed_keys(scenario, stated_keys(options.scenario));
  if (!options.trace.empty()) {
    write_trace(options, choice, scenario, answer);
    watch.lap("trace");
    patience.end();
    notes << "trace in " << options.trace << ": open https://ui.perfetto.dev and drop it there\n";
  }
  if (!options.html.empty()) {
    write_page(options, scenario, answer, patience, notes);
    watch.lap("page");
  }
  patience.end();
  const RunStats stats = watch.finish();
  out << formatted(options, answer.metrics, answer.outcomes, stats);
  if (options.stats && options.format != "json") notes << stats_line(stats);
  if (answer.metrics.replicas && answer.metrics.replicas->is_interrupted())
    return ExitCode::incomplete;
  for (const ExpectationOutcome& outcome : answer.outcomes) {
    if (!outcome.holds) return ExitCode::expectation_failed;
  }
  return ExitCode::ok;
}

}  // namespace stepsim
