// Which importer reads a file: the one that is named, or the one that recognises it.
#include "sim/import/importer.hpp"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/core/shell_word.hpp"
#include "sim/core/source.hpp"
#include "sim/core/suggest.hpp"
#include "sim/import/kind_of_file.hpp"

namespace stepsim {
namespace {

std::string names_text(const std::vector<const Importer*>& importers) {
  std::vector<std::string_view> names;
  for (const Importer* importer : importers) names.push_back(importer->name);
  return fmt::format("{}", fmt::join(names, ", "));
}

/// A word that is no file may be a kind that was mistyped.
void refuse_misspelt_kind(const std::string& word) {
  std::error_code none;
  if (std::filesystem::exists(word, none)) return;
  const std::string proposal = closest(word, Registry<Importer>::names());
  if (!proposal.empty())
    throw UserError(fmt::format("no command '{}' of `import`, {}", word, proposal));
}

const Importer& recognised(const std::string& path) {
  if (path.empty()) throw UserError("import: name a file, or a kind and its file");
  const auto& all = Registry<Importer>::all();
  if (path == "-")
    throw UserError(fmt::format("standard input needs a kind: stepsim import KIND - with one of {}",
                                names_text(all)));
  refuse_misspelt_kind(path);
  for (const Importer* importer : all)
    if (importer->recognises_path != nullptr && importer->recognises_path(path)) return *importer;
  const auto source = read_source(path, kLargestImport);
  const std::string& text = source->text;
  refuse_large_import(path, text);
  std::vector<const Importer*> found;
  std::copy_if(all.begin(), all.end(), std::back_inserter(found),
               [&](const Importer* importer) { return importer->recognises(path, text); });
  if (found.size() == 1) return *found.front();
  const std::string other = found.empty() ? way_out_for_import(path, text) : "";
  if (!other.empty()) throw UserError(other);
  throw UserError(found.empty()
                      ? fmt::format("{}: this is no file that stepsim recognises; name its kind: "
                                    "stepsim import KIND {} with one of {}",
                                    path, shell_word(path), names_text(all))
                      : fmt::format("{}: this may be {}; name its kind: stepsim import KIND {}",
                                    path, names_text(found), shell_word(path)));
}

/// Nothing stands behind a configuration but options of the command.
[[noreturn]] void refuse_word(const std::string& word, const Importer& importer) {
  if (!word.starts_with('-'))
    throw UserError(fmt::format("one word too many for import {}: '{}'", importer.name, word));
  const std::string option = word.substr(0, word.find('='));
  const std::string near = closest(option, {importer.options.begin(), importer.options.end()});
  throw UserError(fmt::format("no option '{}' of import {}, {}", option, importer.name,
                              near.empty() ? "--help lists them" : near));
}

}  // namespace

std::shared_ptr<const Source> source_of(const ImportOptions& options) {
  return options.text ? options.text : read_source(options.file);
}

void refuse_large_import(const std::string& file, const std::string& text) {
  if (text.size() > kLargestImport)
    throw UserError(fmt::format("{}: the file is larger than {} MiB: it is none that is imported",
                                file, kLargestImport >> 20));
}

const Importer& importer_for(const ImportOptions& options) {
  const Importer* named = Registry<Importer>::find(options.from);
  const Importer& importer = named != nullptr ? *named : recognised(options.file);
  if (!importer.takes_words && !options.arguments.empty())
    refuse_word(options.arguments.front(), importer);
  for (const std::string& option : options.given) {
    if (std::ranges::find(importer.options, option) == importer.options.end())
      throw UserError(fmt::format("{}: import {} has no such option", option, importer.name));
  }
  return importer;
}

}  // namespace stepsim
