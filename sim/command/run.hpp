// stepsim run: a scenario and its answer, as a report.
#pragma once

#include <iosfwd>
#include <string>

#include "sim/command/trace_choice.hpp"
#include "sim/core/error.hpp"
#include "sim/plan/scenario_argument.hpp"
#include "sim/text/layout.hpp"

namespace stepsim {

struct RunOptions {
  ScenarioArgument scenario;
  std::string format = "table";  ///< table, json, csv
  std::string trace;             ///< file to write; empty: none
  std::string html;              ///< page to write; empty: none
  bool force = false;            ///< files replace any file
  TraceWords trace_words;        ///< what of the run it has
  bool fold = true;
  int jobs = 0;  ///< replicas at the same time; 0: as many as there are cores
  bool stats = false;
  Screen screen;
};

/// Simulates a scenario and prints the answer. Exit code 1 when an expectation fails.
ExitCode run(const RunOptions& options, std::ostream& out, std::ostream& notes);

}  // namespace stepsim
