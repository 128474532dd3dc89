// Scenario and recording -> account of a step each -> what differs.
#include "sim/command/recording/compare_recording.hpp"

#include <algorithm>
#include <filesystem>
#include <ostream>

#include <fmt/format.h>

#include "sim/command/answer/answer.hpp"
#include "sim/command/page/answer_page.hpp"
#include "sim/command/page/step_timeline.hpp"
#include "sim/command/recording/read_job.hpp"
#include "sim/core/source.hpp"
#include "sim/ops/op_graph.hpp"
#include "sim/page/page.hpp"
#include "sim/plan/load.hpp"
#include "sim/process/patience.hpp"
#include "sim/recording/files/looks_like_recording.hpp"
#include "sim/report/recording/against.hpp"

namespace stepsim {
namespace {

bool is_recording(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::is_directory(path, ignored) || looks_like_recording(path);
}

void check_options(const CompareOptions& options) {
  if (options.files.size() != 2 || !options.baseline.empty() || !options.variants.empty() ||
      !options.tolerance.empty())
    throw UserError(
        "a recording is compared with one scenario: stepsim compare scenario.yaml RECORDING, with "
        "--set for changes of the scenario");
  if (std::ranges::all_of(options.files, is_recording))
    throw UserError(fmt::format(
        "{} and {} are both recordings: explain each, or name a scenario and one of them",
        quoted_path(options.files[0]), quoted_path(options.files[1])));
  if (options.format != "table" && options.format != "json")
    throw UserError(
        fmt::format("--format {}: a comparison with a recording is table or json", options.format));
}

}  // namespace

bool has_recording(const CompareOptions& options) {
  return std::ranges::any_of(options.files, is_recording);
}

ExitCode compare_recording(const CompareOptions& options, std::ostream& out, std::ostream& notes) {
  check_options(options);
  const bool is_first = is_recording(options.files[0]);
  const std::string& recording = options.files[is_first ? 0 : 1];
  const ScenarioArgument argument{options.files[is_first ? 1 : 0], options.overrides};
  const Library library = library_for(argument.path);
  const Scenario scenario = load(argument, library);
  Patience patience(options.screen.progress);
  patience.begins("simulating");
  const Output page = html_output(options.html, options.force, kComparePages);
  check_outputs({page});
  const Answer answer =
      answer_of(scenario, library, {.jobs = options.jobs, .kernels = true}, notes);
  patience.begins("reading the recording");
  const RecordedJob job = read_job(recording, false).job;
  check_outputs({page});  // now that the recording has been read
  RecordedComparison comparison =
      compare_with_recording(scenario, answer.metrics, build(scenario), answer.simulation, job);
  comparison.scenario = argument.path;
  if (!page.path.empty()) {
    const int replica = answer.metrics.replicas ? answer.metrics.replicas->median : 0;
    save_page(page,
              {.kind = "against",
               .title = answer.metrics.scenario + " against a recording",
               .documents = {{"result", to_json(comparison)},
                             causes_document(),
                             {"timeline", step_timeline_json(scenario, {.replica = replica})}}},
              notes);
  }
  patience.end();
  out << (options.format == "json" ? to_json(comparison) : to_table(comparison, options.screen));
  return ExitCode::ok;
}

}  // namespace stepsim
