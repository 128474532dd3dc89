// A cluster as a scenario reads it from the text that a command wrote.
#pragma once

#include <sstream>
#include <string>

#include <fmt/format.h>

#include "sim/plan/load.hpp"
#include "sim/scenario/load.hpp"
#include "tests/source_folder.hpp"

namespace stepsim {

inline Cluster cluster_of(const std::string& text, int nodes = 1) {
  std::istringstream lines(text);
  std::string scenario = fmt::format(
      "model: {{name: m, kind: mlp, layers: 1, width: 1}}\n"
      "training: {{global_batch: {}, precision: fp16}}\ncluster:\n  name: c\n",
      8 * nodes);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("nodes:")) line = fmt::format("nodes: {}", nodes);
    scenario += "  " + line + "\n";
  }
  return parse_scenario(scenario, "case.yaml", Library{{source_folder()}}, {}, known_names())
      .cluster;
}

}  // namespace stepsim
