// Every mistake that a scenario can hold has its message, and the message says where and what to
// do.
//
// A case is <case>.yaml or <case>/scenario.yaml (with files that it refers to beside it) and
// <case>.expected, the exact text, in any folder below tests/errors/scenario. A line
// "# --set path=value" in the scenario is an override.
// After a wanted change of wording, run with STEPSIM_UPDATE=1 and read the difference.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <doctest/doctest.h>

#include "sim/core/error.hpp"
#include "sim/plan/load.hpp"
#include "sim/plan/schedule.hpp"
#include "sim/scenario/load.hpp"
#include "tests/source_folder.hpp"

using namespace stepsim;
namespace fs = std::filesystem;

namespace {

const fs::path kErrors = fs::path(source_folder()) / "tests/errors";
const fs::path kFolder = kErrors / "scenario";

std::string text_of(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

struct Case {
  std::string name;  ///< Below kFolder: "cluster/no_link".
  fs::path scenario;
  fs::path folder() const { return scenario.parent_path(); }
  fs::path expected() const { return kFolder / (name + ".expected"); }
};

/// The folder of a case has a scenario.yaml; its other files belong to that one.
bool is_case(const fs::path& folder) { return fs::exists(folder / "scenario.yaml"); }

std::string name_of(const fs::path& case_path) {
  return fs::path(case_path).replace_extension().lexically_relative(kFolder).string();
}

std::vector<Case> all_cases() {
  std::vector<Case> cases;
  for (fs::recursive_directory_iterator entry(kFolder), end; entry != end; ++entry) {
    const fs::path path = entry->path();
    if (is_case(path)) {
      cases.push_back({name_of(path), path / "scenario.yaml"});
      entry.disable_recursion_pending();
    } else if (path.extension() == ".yaml") {
      cases.push_back({name_of(path), path});
    }
  }
  std::sort(cases.begin(), cases.end(),
            [](const Case& a, const Case& b) { return a.name < b.name; });
  return cases;
}

std::vector<Override> overrides_of(const std::string& text) {
  std::vector<Override> overrides;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("# --set ")) overrides.push_back(parse_override(line.substr(8)));
  }
  return overrides;
}

/// Paths as somebody in the case's folder would see them.
std::string seen_from(std::string text, const fs::path& folder) {
  const std::string prefix = folder.string() + "/";
  for (auto at = text.find(prefix); at != std::string::npos; at = text.find(prefix, at)) {
    text.erase(at, prefix.size());
  }
  return text;
}

std::vector<Diagnostic> diagnostics_of(const Case& c) {
  KnownNames known = known_names();
  known.collectives = {"hierarchical", "ring", "tree"};
  const Library library{{c.folder().string(), (kErrors / "library").string()}};
  const std::string text = text_of(c.scenario);
  try {
    parse_scenario(text, c.scenario.string(), library, overrides_of(text), known);
  } catch (const UserError& error) {
    return error.diagnostics();
  }
  return {};
}

/// Messages of these kinds always say what to do.
bool promises_proposal(const std::string& message) {
  const auto has = [&](const char* part) { return message.find(part) != std::string::npos; };
  return has("unknown key") || has("missing key") || has("has no unit") || has("is not a unit") ||
         has("needs a source") || has("has no comparison");
}

}  // namespace

TEST_CASE("every mistake has its message") {
  const auto cases = all_cases();
  REQUIRE(cases.size() >= 25);
  for (const Case& c : cases) {
    CAPTURE(c.name);
    const auto diagnostics = diagnostics_of(c);
    REQUIRE_FALSE(diagnostics.empty());
    const std::string text = seen_from(UserError(diagnostics).what(), c.folder()) + "\n";
    if (std::getenv("STEPSIM_UPDATE") != nullptr) std::ofstream(c.expected()) << text;
    CHECK(text == text_of(c.expected()));
  }
}

TEST_CASE("every message says where, and what to do where it promises that") {
  for (const Case& c : all_cases()) {
    for (const Diagnostic& diagnostic : diagnostics_of(c)) {
      CAPTURE(c.name);
      CAPTURE(diagnostic.message);
      CHECK_FALSE(diagnostic.file.empty());
      const bool is_override = diagnostic.file.starts_with("--set ");
      CHECK((is_override ? diagnostic.line == 0 : diagnostic.line > 0 && diagnostic.column > 0));
      if (promises_proposal(diagnostic.message)) CHECK_FALSE(diagnostic.proposal.empty());
    }
  }
}

TEST_CASE("no expected text is left without its case") {
  const auto cases = all_cases();
  for (const auto& entry : fs::recursive_directory_iterator(kFolder)) {
    if (entry.path().extension() != ".expected") continue;
    CAPTURE(entry.path().string());
    CHECK(std::any_of(cases.begin(), cases.end(),
                      [&](const Case& c) { return c.expected() == entry.path(); }));
  }
}
