// stepsim sweep: a scenario along axes, its outcomes in a file, and the best of them.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

#include "sim/core/error.hpp"
#include "sim/plan/scenario_argument.hpp"
#include "sim/text/layout.hpp"

namespace stepsim {

struct SweepOptions {
  ScenarioArgument scenario;       ///< may be a file with axes
  std::vector<std::string> vary;   ///< path=values
  std::vector<std::string> where;  ///< conditions
  std::int64_t random = 0;         ///< points of the grid; 0: all, or as the file says
  std::uint64_t seed = 0;          ///< seed of the random points; 0: as the file says
  std::string objective;           ///< empty: as the file says
  std::int64_t top = 10;           ///< best points that are listed
  std::string format = "table";    ///< table, json, csv
  std::string store;               ///< file of results; empty: beside the scenario
  std::string html;                ///< page to write; empty: none
  bool force = false;              ///< the page replaces any file
  std::string shard;               ///< "2/8": only that part of the points; empty: all
  std::string point_timeout = "10min";
  std::string point_memory;  ///< memory that a point may take; empty: what the machine has
  bool resume = false, restart = false;
  bool any_build = false;  ///< keeps points that another build of the program has simulated
  std::string build;       ///< identity of this build
  int jobs = 0;            ///< points at the same time; 0: as many as there are cores
  Screen screen;
};

/// Simulates a scenario along axes, keeps every outcome in a file, and prints the best. Exit code 1
/// when no point is ok; 3 after Ctrl-C.
ExitCode sweep(const SweepOptions& options, std::ostream& out, std::ostream& notes);

}  // namespace stepsim
