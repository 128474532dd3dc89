// stepsim explain: where the step goes, and what each change would save.
#include "sim/command/explain.hpp"

#include <filesystem>
#include <ostream>

#include "sim/command/answer/what_if.hpp"
#include "sim/plan/load.hpp"
#include "sim/process/interrupt.hpp"
#include "sim/process/patience.hpp"
#include "sim/recording/files/looks_like_recording.hpp"

namespace stepsim {
namespace {

bool is_recording(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::is_directory(path, ignored) || looks_like_recording(path);
}

}  // namespace

ExitCode explain(const ExplainOptions& options, std::ostream& out) {
  if (is_recording(options.scenario.path)) return explain_recording(options, out);
  const Library library = library_for(options.scenario.path);
  const Scenario scenario = load(options.scenario, library);
  const InterruptNoted noted;  // Ctrl-C is noted also while it prints
  Patience patience(options.screen.progress);
  patience.begins("simulating the step and each change of it");
  const Explanation explanation = explain(
      scenario, [&](const auto& settings) { return load(options.scenario, settings, library); });
  patience.end();
  out << (options.format == "json" ? to_json(explanation) : to_table(explanation, options.screen));
  return explanation.is_interrupted ? ExitCode::incomplete : ExitCode::ok;
}

}  // namespace stepsim
