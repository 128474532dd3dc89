// Exports by the list of exporters, and holds what they write against its own import.
#include "sim/export/export.hpp"

#include <algorithm>
#include <map>
#include <ostream>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "sim/core/shell_word.hpp"
#include "sim/core/suggest.hpp"
#include "sim/export/round_trip.hpp"
#include "sim/import/importer.hpp"
#include "sim/plan/load.hpp"
#include "sim/scenario/names.hpp"
#include "sim/scenario/read/keys.hpp"
#include "sim/text/file.hpp"
#include "sim/text/seal.hpp"

namespace stepsim {
namespace {

constexpr const char* kCommand = "stepsim export";

bool is_of_program(const Exporter& exporter, const std::string& key) {
  return std::ranges::any_of(exporter.of_program,
                             [&](std::string_view outer) { return is_within(key, outer); });
}

/// The scenario that the import of the text makes.
Scenario imported_again(const Exporter& exporter, const Exported& exported) {
  const Draft draft = imported_draft(*Registry<Importer>::find(exporter.name), exported.import);
  return parse_scenario(draft.text(), "scenario.yaml", library_for("scenario.yaml"), {},
                        known_names());
}

/// Keys of the plan that come back as others: there is no option for them, or their framework has
/// only the other value.
void refuse_other_plans(const Exporter& exporter, const std::vector<KeyDifference>& found) {
  std::vector<Diagnostic> refusals;
  for (const KeyDifference& each : found) {
    if (makes_plan(each.key) && !is_of_program(exporter, each.key))
      refusals.push_back({.message = fmt::format("{}: {}: {}'s options cannot say it; with them "
                                                 "it is {}",
                                                 each.key, each.here, exporter.name, each.there)});
  }
  if (!refusals.empty()) throw UserError(refusals);
}

/// Keys of the splits and of training one by one, others by their section.
std::vector<std::string> not_said(const Exporter& exporter,
                                  const std::vector<KeyDifference>& found) {
  std::vector<std::string> lines;
  std::map<std::string, std::vector<std::string>> sections;
  for (const KeyDifference& each : found) {
    const std::size_t dot = each.key.find('.');
    const std::string section = each.key.substr(0, dot);
    if (section == "training" || section == "parallelism")
      lines.push_back(fmt::format(
          "{}: {} ({}{})", each.key, each.here, each.there,
          is_of_program(exporter, each.key) ? " there; the program states it" : " there"));
    else
      sections[section].push_back(dot == std::string::npos ? each.here : each.key.substr(dot + 1));
  }
  for (const auto& [section, keys] : sections)
    lines.push_back(fmt::format("{}: {}", section, fmt::join(keys, ", ")));
  return lines;
}

std::string import_command(const Exporter& exporter, const ImportOptions& import) {
  std::string text = fmt::format("stepsim import {}", exporter.name);
  text += Registry<Importer>::find(exporter.name)->takes_words ? " --file FILE" : " FILE";
  const auto add = [&](const char* option, const std::string& value) {
    text += fmt::format(" {} {}", option, shell_word(value));
  };
  if (import.model) add("--model", *import.model);
  if (import.sequence_length) add("--sequence-length", std::to_string(*import.sequence_length));
  if (import.precision) add("--precision", *import.precision);
  if (import.micro_batch > 0) add("--micro-batch", std::to_string(import.micro_batch));
  if (import.accumulation > 0) add("--accumulation", std::to_string(import.accumulation));
  if (import.cluster) add("--cluster", *import.cluster);
  if (import.nodes > 0) add("--nodes", std::to_string(import.nodes));
  return text;
}

std::string json_text(const Export& exported) {
  const nlohmann::ordered_json json = {
      {"text", exported.text}, {"not_said", exported.not_said}, {"import", exported.import}};
  return json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace

Export export_of(const Exporter& exporter, const Scenario& scenario) {
  refuse_what_framework_lacks(exporter, scenario);
  Exported exported = exporter.write(scenario);
  const auto found = differences(scenario, imported_again(exporter, exported));
  refuse_other_plans(exporter, found);
  Export result{.text = std::move(exported.text),
                .not_said = not_said(exporter, found),
                .import = import_command(exporter, exported.import)};
  for (std::string& note : exported.notes) result.not_said.push_back(std::move(note));
  return result;
}

ExitCode export_scenario(const ExportOptions& options, std::ostream& out, std::ostream& notes) {
  const Export exported = export_of(*Registry<Exporter>::find(options.to), load(options.scenario));
  for (const std::string& line : exported.not_said)
    notes << "not said by these options: " << line << '\n';
  notes << "read again by: " << exported.import << '\n';
  const std::string text = options.format == "json" ? json_text(exported) : exported.text;
  if (options.output.empty()) {
    out << text;
  } else {
    save_file(
        {"-o", options.output, sealed_by(kCommand, {"text", "not_said", "import"}), options.force},
        sealed(text, kCommand));
    out << options.output << ": written\n";
  }
  return ExitCode::ok;
}

}  // namespace stepsim
