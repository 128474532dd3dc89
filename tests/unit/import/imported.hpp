// Imports in tests: a file, what is written for it, what is said beside it.
#pragma once

#include <sstream>

#include <doctest/doctest.h>

#include "sim/import/import_options.hpp"
#include "sim/scenario/load.hpp"
#include "tests/source_folder.hpp"
#include "tests/temporary_folder.hpp"

namespace stepsim {

/// A file that is removed with the test.
class File {
 public:
  File(const std::string& name, const std::string& text) : path_(folder_.file(name, text)) {}
  const std::string& path() const { return path_; }

 private:
  TemporaryFolder folder_;
  std::string path_;
};

struct Imported {
  std::string text, assumed, notes;
  Scenario scenario;
};

/// The lines that begin so.
inline std::string lines_with(const std::string& prefix, const std::string& text) {
  std::string found;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(prefix)) found += line + "\n";
  }
  return found;
}

inline Imported imported(const ImportOptions& options) {
  std::ostringstream out, notes;
  REQUIRE(import(options, out, notes) == ExitCode::ok);
  return {out.str(), lines_with("assumed: ", notes.str()), lines_with("not ", notes.str()),
          parse_scenario(out.str(), "imported.yaml", Library{{source_folder()}})};
}

inline std::string error_of(const ImportOptions& options) {
  std::ostringstream out, notes;
  try {
    import(options, out, notes);
  } catch (const UserError& error) {
    return error.what();
  }
  return "none";
}

/// The least that Megatron-LM needs.
inline const std::string kGpt =
    "--num-layers 24 --hidden-size 2048 --num-attention-heads 32 --seq-length 2048 "
    "--max-position-embeddings 2048 --micro-batch-size 4 --vocab-size 50257 ";

}  // namespace stepsim
