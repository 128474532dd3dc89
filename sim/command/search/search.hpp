// stepsim search: the best strategy for a scenario, on its own number of GPUs or on several.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "sim/core/error.hpp"
#include "sim/plan/scenario_argument.hpp"
#include "sim/text/layout.hpp"

namespace stepsim {

struct SearchReport;

struct SearchOptions {
  ScenarioArgument scenario;
  std::vector<std::string> only;  ///< "tensor=1,2,4"
  std::string gpus;               ///< "512", "64..4096"; empty: those of the scenario
  std::string clusters;           ///< "dgx-h100,dgx-h200=3.1": compared; empty: the scenario's
  std::string tokens;             ///< tokens to train on: "300e9"; empty: as run.horizon says
  std::string deadline;           ///< when the training has to end: "30d"; empty: none
  std::string objective;   ///< what makes one size best; empty: step_time, or gpus with a deadline
  std::string max_memory;  ///< share of a GPU's memory: "92%"; empty: as run.memory_margin says
  std::string budget;      ///< time for each search: "60s"; empty: any
  std::string strategy_timeout = "10min";  ///< time that a simulation may take
  std::string html;                        ///< page to write; empty: none
  bool force = false;                      ///< outputs replace any files
  int keep = 10;                           ///< strategies that are listed
  int simulations = 300;                   ///< at most
  int jobs = 0;                            ///< at the same time; 0: as many as there are cores
  std::string format = "table";            ///< table, json, csv
  std::string output;                      ///< scenario to write with the best; empty: none
  Screen screen;
};

/// The search on one number of GPUs.
SearchReport search_report(const SearchOptions& options, std::ostream& notes);

ExitCode search(const SearchOptions& options, std::ostream& out, std::ostream& notes);

}  // namespace stepsim
