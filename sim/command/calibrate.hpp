// stepsim calibrate fit, cpu, probe, steps, trace: profiles and clusters of what was measured or seen.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "sim/core/error.hpp"
#include "sim/plan/scenario_argument.hpp"
#include "sim/text/layout.hpp"

namespace stepsim {

struct CalibrateFitOptions {
  std::vector<std::string> measurements;  ///< files
  std::string output;                     ///< GPU profile to write; empty: none
  std::string link;                       ///< link profile to write; empty: none
  std::string fabric;                     ///< cluster to write, with a fabric; empty: none
  std::string base, base_link;   ///< profiles for what was not measured; empty: the nearest
  std::string base_cluster;      ///< the cluster whose fabric was measured
  std::string name;              ///< what the profile calls the GPU; empty: as its driver does
  std::uint64_t seed = 1;        ///< seed of the halves of the points that are kept from fits
  std::string format = "table";  ///< table, markdown, json
  bool force = false;            ///< replaces also what was changed since it was written
};

struct CalibrateProbeOptions {
  std::string output;  ///< cluster file to write; empty: standard output
  std::string root;    ///< folder with a copy of a machine's files; empty: this machine
  std::string gpu;     ///< a profile; empty: as recognised
  bool force = false;  ///< replaces also what was changed since it was written
};

struct CalibrateCpuOptions {
  std::string output;            ///< GPU profile to write, DIR/calib/gpus/NAME.yaml
  std::string budget = "90s";    ///< time for measuring
  std::optional<int> ranks;      ///< processes that are at work; absent: two, or one on one core
  std::string working_set;       ///< in which operands take turns; empty: beyond the caches
  std::string format = "table";  ///< table, json
  bool force = false;            ///< replaces also what was changed since it was written
};

struct CalibrateStepsOptions {
  std::string suite;             ///< file: docs/validation.md
  std::string table;             ///< rows instead of the suite's; empty: its own
  std::string filter;            ///< condition for rows; empty: all
  std::string format = "table";  ///< table, json
  int jobs = 0;                  ///< simulations at the same time; 0: as many as there are cores
  Screen screen;
};

struct CalibrateTraceOptions {
  std::string recording;         ///< a file of a rank, or a folder of them
  ScenarioArgument scenario;     ///< of the recorded run
  std::string output;            ///< folder; profiles go to calib/ in it
  std::string name;              ///< of the profiles; empty: the GPU's, and "-recorded"
  std::string format = "table";  ///< table, json
  bool force = false;            ///< replaces also what was changed since it was written
  Screen screen;
};

/// Fits profiles to measurements, writes them, and prints how far off they are.
ExitCode calibrate_fit(const CalibrateFitOptions& options, std::ostream& out);

/// Writes a cluster of what this machine, or a saved copy of its files, says of itself. Throws
/// SimulationError where there is no GPU.
ExitCode calibrate_probe(const CalibrateProbeOptions& options, std::ostream& out,
                         std::ostream& notes);

/// Measures this machine's CPU with stepsim-measure-cpu, and writes what a scenario needs to train
/// on it: profiles of a core and of MPI, a cluster, a scenario to start from. The measurements stay
/// beside the profile. Throws UserError where the program was not built, SimulationError where it
/// failed.
ExitCode calibrate_cpu(const CalibrateCpuOptions& options, std::ostream& out, std::ostream& notes);

/// Fits the constants in which machines of one kind differ most (products under load, the network
/// between nodes, the host) to measured steps, and prints them, the errors before and after, and
/// those of each step by constants of the others. Throws UserError where fewer than two rows can be
/// used.
ExitCode calibrate_steps(const CalibrateStepsOptions& options, std::ostream& out,
                         std::ostream& notes);

/// Writes the scenario's profiles of GPU and link anew, with the times that a recording of its run
/// has of kernels and collectives, and prints what was scaled and how to predict with it. Throws
/// UserError where recording and scenario have no kernels in common.
ExitCode calibrate_trace(const CalibrateTraceOptions& options, std::ostream& out,
                         std::ostream& notes);

}  // namespace stepsim
