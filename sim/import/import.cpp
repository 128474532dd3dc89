// stepsim import: what another program's configuration says, as a scenario or a cluster.
//
// The text of a scenario is read and checked before it is written: an import is a scenario.
#include <filesystem>
#include <ostream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "sim/core/shell_word.hpp"
#include "sim/import/importer.hpp"
#include "sim/plan/load.hpp"
#include "sim/scenario/load.hpp"
#include "sim/text/file.hpp"

namespace stepsim {
namespace {

/// What is wrong with the scenario that was made is no mistake in a file that the user has: said
/// so, with its line.
std::vector<Diagnostic> of_the_made(const UserError& error, const std::string& made,
                                    const std::string& from) {
  std::vector<Diagnostic> mistakes = error.diagnostics();
  for (Diagnostic& mistake : mistakes) {
    if (mistake.file != made) continue;
    mistake.file.clear();
    mistake.line = 0;
    mistake.message = fmt::format("the scenario made from {}: {}", from, mistake.message);
  }
  return mistakes;
}

void check(const std::string& text, const ImportOptions& options) {
  const std::string file = options.output.empty() ? "scenario.yaml" : options.output;
  try {
    parse_scenario(text, file, library_for(file), {}, known_names());
  } catch (const UserError& error) {
    throw UserError(
        of_the_made(error, file, options.file.empty() ? "the command line" : options.file));
  }
}

std::string json_text(const char* what, const Draft& draft) {
  nlohmann::ordered_json assumed = nlohmann::ordered_json::array();
  for (const Assumption& a : draft.assumptions())
    assumed.push_back({{"what", a.what}, {"value", a.value}, {"why", a.why}, {"state", a.state}});
  const nlohmann::ordered_json json = {
      {what, draft.text()}, {"assumed", assumed}, {"not_simulated", draft.notes()}};
  return json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

ExitCode write(const Draft& draft, bool is_cluster, const ImportOptions& options, std::ostream& out,
               std::ostream& notes) {
  if (!is_cluster) check(draft.text(), options);
  for (const Assumption& assumption : draft.assumptions())
    notes << "assumed: " << to_string(assumption) << '\n';
  for (const std::string& note : draft.notes())
    notes << "not simulated as stated: " << note << '\n';
  const std::string text = options.format == "json"
                               ? json_text(is_cluster ? "cluster" : "scenario", draft)
                               : draft.text();
  if (options.output.empty()) {
    out << text;
  } else {
    save_file(options.output, text);
    out << shown_path(options.output) << ": written";
    if (options.format != "json")
      out << (is_cluster ? "; stepsim run SCENARIO --set cluster=" : "; stepsim run ")
          << shell_word(options.output);
    out << '\n';
  }
  return ExitCode::ok;
}

}  // namespace

ExitCode import(const ImportOptions& options, std::ostream& out, std::ostream& notes) {
  std::error_code ignored;
  if (std::filesystem::equivalent(options.file, options.output, ignored))
    throw UserError(fmt::format("-o {} would replace the file that is read", options.output));
  const Importer& importer = importer_for(options);
  const bool is_cluster = importer.cluster != nullptr;
  return write(is_cluster ? importer.cluster(options) : importer.scenario(options), is_cluster,
               options, out, notes);
}

}  // namespace stepsim
