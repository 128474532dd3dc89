// Exports in tests: scenarios from settings, and what is left of them behind an import.
#pragma once

#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "sim/export/export.hpp"
#include "sim/plan/load.hpp"
#include "tests/source_folder.hpp"

namespace stepsim {

/// A scenario of 32 GPUs, trained by that framework, with settings on top.
inline Scenario scenario_of(const std::string& framework, const std::string& model,
                            const std::vector<std::string>& settings) {
  std::vector<Override> overrides;
  for (const std::string& setting : settings) overrides.push_back(parse_override(setting));
  return parse_scenario("framework: " + framework + "\nmodel: " + model +
                            "\ncluster: {base: dgx-h100, nodes: 4}\n"
                            "training: {sequence_length: 4096, global_batch: 256}\n",
                        "scenario.yaml", Library{{source_folder()}}, overrides, known_names());
}

inline Export exported(const std::string& to, const Scenario& scenario) {
  return export_of(*Registry<Exporter>::find(to), scenario);
}

inline std::string refusal(const std::string& to, const Scenario& scenario) {
  try {
    exported(to, scenario);
  } catch (const UserError& error) {
    return error.what();
  }
  return "none";
}

/// Keys of training and of the splits that did not come back.
inline std::string lost(const Export& result) {
  std::string lines;
  for (const std::string& line : result.not_said)
    if (line.starts_with("training.") || line.starts_with("parallelism.")) lines += line + "\n";
  return lines;
}

}  // namespace stepsim
