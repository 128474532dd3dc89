// What is said about a scenario does not depend on how its YAML is spelled: for each key that a value
// alone stands for, `run` with its `Next` and `explain` print the same bytes for both spellings.
#include <fstream>
#include <map>
#include <sstream>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <sys/wait.h>

#include "sim/scenario/read/doc_writer.hpp"
#include "tests/shorthand_values.hpp"
#include "tests/temporary_folder.hpp"

using namespace stepsim;

namespace {

/// A scenario of these sections, with one key more in one of them.
std::string text_with(const std::string& path, const std::string& value) {
  std::map<std::string, std::string> sections = {
      {"cluster", "base: dgx-h100, nodes: 2"},
      {"collectives", "nccl: 2.27"},
      {"data", "sample_size: 8 KiB"},
      {"model", "base: mixtral-8x7b, layers: 2"},
      {"parallelism", "sequence: false"},
      {"training", "sequence_length: 2048, global_batch: 32"},
  };
  const std::size_t dot = path.find('.');
  sections.at(path.substr(0, dot)) += fmt::format(", {}: {}", path.substr(dot + 1), value);
  std::string text = "name: spelled\n";
  for (const auto& [section, keys] : sections) text += fmt::format("{}: {{{}}}\n", section, keys);
  return text;
}

std::string said_about(const std::string& scenario, const std::string& command) {
  const TemporaryFolder folder;
  std::ofstream(folder.file("spelled.yaml")) << scenario;
  const std::string line = fmt::format("cd '{}' && {} {} spelled.yaml >out 2>&1", folder.file("."),
                                       STEPSIM_PROGRAM, command);
  const int status = std::system(line.c_str());
  std::ostringstream text;
  text << std::ifstream(folder.file("out")).rdbuf();
  INFO(text.str());
  REQUIRE(WEXITSTATUS(status) == 0);
  return text.str();
}

}  // namespace

TEST_CASE("two spellings get one answer: run, what it proposes, and explain") {
  int shorthands = 0;
  for (const DocWriter::Row& row : scenario_rows()) {
    if (row.word.empty()) continue;
    ++shorthands;
    CAPTURE(row.path);
    const std::string value = kShorthandValues.at(row.path);
    const std::string brief = text_with(row.path, value);
    const std::string full = text_with(row.path, fmt::format("{{{}: {}}}", row.word, value));
    for (const char* command : {"run", "explain"}) {
      CAPTURE(command);
      CHECK(said_about(brief, command) == said_about(full, command));
    }
  }
  CHECK(shorthands == static_cast<int>(kShorthandValues.size()));
}
