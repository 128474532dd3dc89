// stepsim explain: where the step goes, and what each change would save.
#include "sim/command/explain.hpp"

#include <filesystem>
#include <ostream>

#include "sim/command/answer/answer.hpp"
#include "sim/command/answer/what_if.hpp"
#include "sim/command/page/step_timeline.hpp"
#include "sim/page/page.hpp"
#include "sim/plan/load.hpp"
#include "sim/process/interrupt.hpp"
#include "sim/process/patience.hpp"
#include "sim/recording/files/looks_like_recording.hpp"
#include "sim/scenario/read/assumed_keys.hpp"

namespace stepsim {
namespace {

bool is_recording(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::is_directory(path, ignored) || looks_like_recording(path);
}

HtmlPage page_of(const Explanation& explanation, const Scenario& scenario) {
  const Metrics& metrics = explanation.metrics;
  return {
      .kind = "explain",
      .title = metrics.scenario + ": what holds a step up",
      .documents = {{"result", to_json(explanation)}, {"timeline", step_timeline_json(scenario)}}};
}

}  // namespace

ExitCode explain(const ExplainOptions& options, std::ostream& out, std::ostream& notes) {
  if (is_recording(options.scenario.path)) return explain_recording(options, out, notes);
  const Library library = library_for(options.scenario.path);
  const Scenario scenario = load(options.scenario, library);
  const Output page = html_output(options.html, options.force, kExplainPages);
  check_outputs({page});
  const InterruptNoted noted;  // Ctrl-C is noted also while it prints
  Patience patience(options.screen.progress);
  patience.begins("simulating the step and each change of it");
  Explanation explanation = explain(
      scenario, [&](const auto& settings) { return load(options.scenario, settings, library); });
  explanation.metrics.expected_error = likely_error(library, scenario, notes);
  explanation.metrics.assumed = assumed_keys(scenario, stated_keys(options.scenario));
  if (!page.path.empty()) {
    patience.begins("writing");
    save_page(page, page_of(explanation, scenario), notes);
  }
  patience.end();
  out << (options.format == "json" ? to_json(explanation) : to_table(explanation, options.screen));
  return explanation.is_interrupted ? ExitCode::incomplete : ExitCode::ok;
}

}  // namespace stepsim
