// Imports of texts: the scenario that comes out, and what was said beside it.
#pragma once

#include <sstream>
#include <string>

#include <doctest/doctest.h>

#include "sim/core/error.hpp"
#include "sim/import/import_options.hpp"
#include "sim/scenario/load.hpp"
#include "tests/source_folder.hpp"
#include "tests/temporary_folder.hpp"

namespace stepsim {

struct ImportResult {
  std::string text;   ///< the scenario's
  std::string notes;  ///< lines of assumptions and of what is not simulated as stated
  Scenario scenario;

  bool says(const std::string& words) const { return notes.find(words) != std::string::npos; }
};

/// The import of a file of that name; its kind is what the file shows unless options say.
inline ImportResult import_of(const std::string& name, const std::string& text,
                              ImportOptions options = {}) {
  const TemporaryFolder folder;
  options.file = folder.file(name, text);
  std::ostringstream out, notes;
  REQUIRE(import(options, out, notes) == ExitCode::ok);
  return {out.str(), notes.str(),
          parse_scenario(out.str(), "imported.yaml", Library{{source_folder()}})};
}

/// What is said where a file of that name is refused, without the folder.
inline std::string refusal_of(const std::string& name, const std::string& text,
                              ImportOptions options = {}) {
  const TemporaryFolder folder;
  options.file = folder.file(name, text);
  std::ostringstream out, notes;
  try {
    import(options, out, notes);
  } catch (const UserError& error) {
    std::string what = error.what();
    const std::string before = options.file.substr(0, options.file.size() - name.size());
    for (std::size_t at; (at = what.find(before)) != std::string::npos;)
      what.erase(at, before.size());
    return what;
  }
  return "none";
}

}  // namespace stepsim
