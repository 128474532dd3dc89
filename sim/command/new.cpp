// Lists and copies templates: files of the library, which are copied with their comments.
#include "sim/command/new.hpp"

#include <algorithm>
#include <filesystem>
#include <ostream>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/core/source.hpp"
#include "sim/core/suggest.hpp"
#include "sim/scenario/load.hpp"
#include "sim/text/file.hpp"
#include "sim/text/seal.hpp"

namespace stepsim {
namespace {

constexpr const char* kFolder = "scenarios/templates";
constexpr const char* kCommand = "stepsim new";

/// The text of a template, from the first folder of the library that has it.
std::string text_of(const std::string& name, const Library& library) {
  const std::vector<std::string> names = names_in(kFolder, library);
  if (std::ranges::find(names, name) == names.end())
    throw UserError(fmt::format("no template '{}', {}", name, did_you_mean(name, names)));
  for (const std::string& root : library.roots) {
    for (const char* ending : {".yaml", ".yml"}) {
      const auto file = std::filesystem::path(root) / kFolder / (name + ending);
      std::error_code ignored;
      if (std::filesystem::exists(file, ignored)) return read_source(file.string())->text;
    }
  }
  throw IoError(fmt::format("cannot read the template '{}': it was there a moment ago", name));
}

/// The first line says what a template is, behind "# ".
std::string first_line(const std::string& text) {
  const std::string line = text.substr(0, text.find('\n'));
  return line.starts_with("# ") ? line.substr(2) : line;
}

void list_templates(const Library& library, std::ostream& out) {
  const std::vector<std::string> names = names_in(kFolder, library);
  if (names.empty())
    throw IoError(fmt::format("there is no {}/ in {}", kFolder, fmt::join(library.roots, ", ")));
  for (const std::string& name : names)
    out << fmt::format("{:<20} {}\n", name, first_line(text_of(name, library)));
}

}  // namespace

ExitCode new_scenario(const NewOptions& options, std::ostream& out, std::ostream& notes) {
  const Library library = library_for("scenario.yaml");
  if (options.name.empty()) {
    if (!options.output.empty()) throw UserError("-o: of which template? `stepsim new` lists them");
    list_templates(library, out);
    return ExitCode::ok;
  }
  const std::string text = text_of(options.name, library);
  if (options.output.empty()) {
    out << text;
    return ExitCode::ok;
  }
  const Output output{"-o", options.output, sealed_by(kCommand), options.force};
  check_outputs({output});
  save_file(output, sealed(text, kCommand));
  notes << fmt::format("scenario in {}: stepsim run {}\n", options.output, options.output);
  return ExitCode::ok;
}

}  // namespace stepsim
