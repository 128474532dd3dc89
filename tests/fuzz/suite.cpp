// A validation suite with its rows, and the scenarios of the first of them.
//
// What follows a line of ---- is the suite's table.csv.
#include <algorithm>

#include "sim/plan/load.hpp"
#include "sim/scenario/suite/load_suite.hpp"
#include "tests/fuzz/fuzz.hpp"

namespace stepsim {

void read_text(const std::string& text) {
  constexpr std::size_t kRows = 3;
  const std::string line = "\n----\n";
  const std::size_t end = std::min(text.find(line), text.size());
  file_of("table.csv", text.substr(std::min(end + line.size(), text.size())));
  const LoadedSuite loaded =
      load_suite({.path = file_of("suite.yaml", text.substr(0, end))}, known_names());
  for (std::size_t i = 0; i < std::min(kRows, loaded.runs.size()); ++i)
    if (loaded.runs[i].refusal.empty()) scenario_of(loaded.suite, loaded.runs[i], known_names());
}

}  // namespace stepsim
