// Loading: text to tree, tree to values, values against each other.
#include "sim/scenario/load.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <set>

#include <fmt/format.h>

#include "sim/core/hash.hpp"
#include "sim/core/system/installed.hpp"
#include "sim/scenario/check/check.hpp"
#include "sim/scenario/describe/describe.hpp"
#include "sim/scenario/read/map_reader.hpp"
#include "sim/scenario/read/override.hpp"
#include "sim/scenario/read/parsed_file.hpp"
#include "sim/scenario/read/parts_read.hpp"
#include "sim/scenario/scenario_of_tree.hpp"
#include "sim/scenario/sweep/sweep.hpp"

namespace stepsim {
namespace {

namespace fs = std::filesystem;

void add_root(Library& library, const std::string& root) {
  auto& roots = library.roots;
  if (!root.empty() && std::ranges::find(roots, root) == roots.end()) roots.push_back(root);
}

/// $STEPSIM_LIBRARY: folders with colons between them.
std::vector<std::string> folders_of_environment() {
  const char* value = std::getenv("STEPSIM_LIBRARY");
  std::string rest = value == nullptr ? "" : value;
  std::vector<std::string> folders;
  while (!rest.empty()) {
    const std::size_t colon = rest.find(':');
    if (colon != 0) folders.push_back(rest.substr(0, colon));
    rest = colon == std::string::npos ? "" : rest.substr(colon + 1);
  }
  return folders;
}

/// A name is printed and read back: bytes of a file's name that are no text are left out of it.
std::string stem_of(const std::string& file) {
  std::string stem = fs::path(file).stem().string();
  for (std::size_t bad = first_non_text(stem); bad != std::string::npos; bad = first_non_text(stem))
    stem.erase(bad, 1);
  return stem.empty() ? "scenario" : stem;
}

/// The tree of a scenario with its overrides; throws when there is no map to read.
Tree scenario_tree(const std::shared_ptr<const Source>& source,
                   const std::vector<Override>& overrides, Problems& problems) {
  auto tree = parse_tree(source, "", problems);
  problems.throw_if_any();
  if (!tree->is_map()) {
    const bool empty = tree->kind == Tree::Kind::empty;
    problems.add({source, 1, 1}, "",
                 empty ? "the file is empty: a scenario is a map of keys"
                       : fmt::format("a scenario is a map of keys, not {}", title_of(tree->kind)));
    problems.throw_if_any();
  }
  const Entry* schema = tree->find("schema");
  if (schema != nullptr && schema->value.scalar.starts_with("stepsim.")) {
    problems.add({source, 1, 1}, "",
                 fmt::format("this is a result of stepsim ({}), not a scenario",
                             quoted(schema->value.scalar)),
                 "`stepsim compare` reads results of `run`");
    problems.throw_if_any();
  }
  if (is_sweep(*tree)) {
    problems.add({source, 1, 1}, "", "this is a sweep, not a scenario",
                 fmt::format("`stepsim sweep {}` simulates it", source->name));
    problems.throw_if_any();
  }
  for (const Override& change : overrides) apply(change, *tree, problems);
  return std::move(*tree);
}

Scenario read_scenario(const std::shared_ptr<const Source>& source, const Library& library,
                       const std::vector<Override>& overrides, const KnownNames& known) {
  Reading reading{library, {}, {}};
  reading.problems.put_first(source->name);
  const Tree tree = scenario_tree(source, overrides, reading.problems);
  return scenario_of_tree(tree, {source, 1, 1}, stem_of(source->name), known, reading);
}

/// Reads a part of a scenario by itself: the value of a map with that one key.
template <class Part>
Part load_part(const char* key, const std::string& name, const Library& library,
               void (*check)(const Part&, Reading&) = nullptr) {
  Reading reading{library, {}, {}};
  Tree map = empty_map({});
  map.entries.push_back({key, {}, {.kind = Tree::Kind::scalar, .scalar = name}});
  MapReader io(reading, map, "", "the command", {});
  Part part;
  io.part(key, part, "");
  if (check != nullptr) check(part, reading);
  reading.problems.throw_if_any();
  return part;
}

template <class Profile>
Profile parse_profile(const std::string& text, const std::string& file) {
  const auto source = std::make_shared<Source>(Source{file, folder_of(file), text});
  const Library none;
  Reading reading{none, {}, {}};
  const auto tree = parse_tree(source, "", reading.problems);
  reading.problems.throw_if_any();
  Profile profile;
  profile.name = stem_of(file);
  profile.hash = fnv1a_hex(text);
  MapReader io(reading, *tree, "", "the profile", {source, 1, 1});
  io.expect_sources();
  describe(io, profile);
  io.finish();
  reading.problems.throw_if_any();
  return profile;
}

}  // namespace

namespace {

/// Whether a folder has anything that a scenario may name.
bool is_library(const fs::path& folder) {
  std::error_code ignored;
  for (const char* part : {"models", "calib/gpus", "calib/links", "scenarios/clusters"})
    if (fs::is_directory(folder / part, ignored)) return true;
  return false;
}

/// The library that comes with the program.
fs::path own_library() {
  const auto prefix = installed_prefix();
  return prefix ? *prefix / "share" / "stepsim" : fs::path(STEPSIM_LIBRARY_DIR);
}

[[noreturn]] void refuse_to_go_without(const fs::path& start) {
  std::string looked;
  for (const std::string& folder : folders_of_environment())
    looked += fmt::format("  {} (STEPSIM_LIBRARY)\n", folder);
  looked += fmt::format("  {} and the folders above it\n", start.string());
  looked += fmt::format("  {} (beside the program)\n",
                        (folder_above_program() / "share" / "stepsim").string());
  if (!installed_prefix())
    looked += fmt::format("  {} (where it was built)\n", STEPSIM_LIBRARY_DIR);
  throw IoError("there are no models, GPUs, links and clusters in any of\n" + looked +
                "install stepsim again, or name a folder that has models/ and calib/ by "
                "STEPSIM_LIBRARY");
}

}  // namespace

Library library_for(const std::string& scenario_path) {
  Library library{.roots = {},
                  .parsed = std::make_shared<ParsedFiles>(),
                  .parts = std::make_shared<PartsRead>()};
  for (const std::string& folder : folders_of_environment()) add_root(library, folder);
  std::error_code ignored;
  const fs::path start = fs::absolute(scenario_path, ignored).parent_path();
  for (fs::path folder = start; !folder.empty(); folder = folder.parent_path()) {
    if (is_library(folder)) add_root(library, folder.string());
    if (folder == folder.root_path()) break;
  }
  add_root(library, own_library().string());
  if (std::ranges::none_of(library.roots, is_library)) refuse_to_go_without(start);
  return library;
}

std::vector<std::string> library_warnings() {
  std::vector<std::string> warnings;
  std::error_code ignored;
  for (const std::string& folder : folders_of_environment()) {
    if (!fs::is_directory(folder, ignored))
      throw UserError(fmt::format("STEPSIM_LIBRARY: there is no folder {}{}", quoted_path(folder),
                                  fs::exists(folder, ignored) ? ", it is a file" : ""));
    if (!is_library(folder) && !fs::is_directory(fs::path(folder) / "validate", ignored))
      warnings.push_back(fmt::format(
          "STEPSIM_LIBRARY: {} has no models/, calib/gpus/, calib/links/ or scenarios/clusters/",
          quoted_path(folder)));
  }
  return warnings;
}

Scenario unchecked_scenario(const Tree& tree, const Place& start, const std::string& name,
                            Reading& reading) {
  reading.places.set("", start);
  Scenario scenario;
  scenario.name = name;
  MapReader io(reading, tree, "", "the scenario", start);
  describe(io, scenario);
  io.finish();
  return scenario;
}

Scenario scenario_of_tree(const Tree& tree, const Place& start, const std::string& name,
                          const KnownNames& known, Reading& reading) {
  Scenario scenario = unchecked_scenario(tree, start, name, reading);
  check_scenario(scenario, known, reading);
  reading.problems.throw_if_any();
  scenario.hash = fnv1a_hex(to_yaml(scenario));
  return scenario;
}

Scenario load_scenario(const std::string& path, const std::vector<Override>& overrides,
                       const KnownNames& known) {
  return read_scenario(read_source(path), library_for(path), overrides, known);
}

Scenario parse_scenario(const std::string& text, const std::string& file, const Library& library,
                        const std::vector<Override>& overrides, const KnownNames& known) {
  return read_scenario(std::make_shared<Source>(Source{file, folder_of(file), text}), library,
                       overrides, known);
}

Model load_model(const std::string& name, const Library& library) {
  return load_part<Model>("model", name, library, check_model);
}
GpuProfile load_gpu(const std::string& name, const Library& library) {
  return load_part<GpuProfile>("gpu", name, library);
}
LinkProfile load_link(const std::string& name, const Library& library) {
  return load_part<LinkProfile>("link", name, library);
}
Cluster load_cluster(const std::string& name, const Library& library) {
  return load_part<Cluster>("cluster", name, library, check_cluster);
}

GpuProfile parse_gpu(const std::string& text, const std::string& file) {
  return parse_profile<GpuProfile>(text, file);
}
LinkProfile parse_link(const std::string& text, const std::string& file) {
  return parse_profile<LinkProfile>(text, file);
}

std::vector<std::string> names_in(const std::string& folder, const Library& library) {
  std::set<std::string> names;
  for (const std::string& root : library.roots) {
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator(fs::path(root) / folder, ignored)) {
      const fs::path extension = entry.path().extension();
      if (extension == ".yaml" || extension == ".yml") names.insert(entry.path().stem().string());
    }
  }
  return {names.begin(), names.end()};
}

}  // namespace stepsim
