// The sub-commands: each takes its options, writes results to `out` and returns an exit code.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "sim/core/error.hpp"
#include "sim/import/import_options.hpp"
#include "sim/plan/scenario_argument.hpp"

namespace stepsim {

struct RunOptions {
  ScenarioArgument scenario;
  std::string format = "table";  ///< table, json, csv
  std::string trace;             ///< file to write; empty: none
  bool fold = true;
  int jobs = 0;  ///< replicas at the same time; 0: as many as there are cores
  bool stats = false;
  bool colour = false;
  bool progress = false;  ///< on standard error, which is a terminal
  int width = 80;
};

struct SearchOptions {
  ScenarioArgument scenario;
  std::vector<std::string> only;           ///< "tensor=1,2,4"
  std::string gpus;                        ///< "512", "64..4096"; empty: those of the scenario
  std::string tokens;                      ///< of the training: "300e9"; empty: as run.horizon says
  std::string deadline;                    ///< of the training: "30d"; empty: none
  std::string objective;                   ///< of sizes; empty: step_time, or gpus with a deadline
  std::string budget;                      ///< time for each search: "60s"; empty: any
  std::string strategy_timeout = "10min";  ///< that a simulation may take
  std::string svg;                         ///< picture to write; empty: none
  int keep = 10;                           ///< strategies that are listed
  int simulations = 300;                   ///< at most
  int jobs = 0;                            ///< at the same time; 0: as many as there are cores
  std::string format = "table";            ///< table, json, csv
  std::string output;                      ///< scenario to write with the best; empty: none
  bool colour = false;
  bool progress = false;
  int width = 80;
};

struct ExplainOptions {
  ScenarioArgument scenario;
  std::string format = "table";  ///< table, json
  bool colour = false;
  bool progress = false;  ///< on standard error, which is a terminal
  int width = 80;
};

struct CompareOptions {
  std::vector<std::string> files;                  ///< scenarios, or results of `run`
  std::vector<std::string> overrides;              ///< path=value, of all scenarios
  std::vector<std::vector<std::string>> variants;  ///< the first with these on top: one more each
  std::string baseline;          ///< a result that the only file has to be as good as; empty: none
  std::string tolerance;         ///< by how much it may be worse: "2 %"
  std::string format = "table";  ///< table, json, csv, markdown
  int jobs = 0;                  ///< simulations at the same time; 0: as many as there are cores
  bool colour = false;
  bool progress = false;  ///< on standard error, which is a terminal
  int width = 80;
};

/// What `show collective` is asked.
struct CollectiveQuestion {
  std::string op = "all_reduce";
  std::string bytes = "64 MiB";  ///< nccl-tests size
  std::string group = "data";
  std::string format = "table";  ///< table, json
};

struct ShowOptions {
  std::string what;  ///< scenario, cluster, ops, plan, memory, timeline, collective
  ScenarioArgument scenario;
  CollectiveQuestion collective;
  bool dot = false;  ///< cluster: a picture for Graphviz
};

struct CalibrateFitOptions {
  std::vector<std::string> measurements;  ///< files
  std::string output;                     ///< GPU profile to write
  std::string link;                       ///< link profile to write; empty: none
  std::string base, base_link;   ///< profiles for what was not measured; empty: the nearest
  std::string name;              ///< what the profile calls the GPU; empty: as its driver does
  std::uint64_t seed = 1;        ///< of the halves of the points that are kept from fits
  std::string format = "table";  ///< table, markdown, json
  bool force = false;            ///< also replace what was changed since it was written
};

struct CalibrateProbeOptions {
  std::string output;  ///< cluster file to write; empty: standard output
  std::string root;    ///< folder with a copy of a machine's files; empty: this machine
  std::string gpu;     ///< a profile; empty: as recognised
  bool force = false;  ///< also replace what was changed since it was written
};

struct CalibrateCpuOptions {
  std::string output;            ///< GPU profile to write, DIR/calib/gpus/NAME.yaml
  std::string budget = "90s";    ///< of the measurement
  std::optional<int> ranks;      ///< processes that are at work; absent: two, or one on one core
  std::string working_set;       ///< in which operands take turns; empty: beyond the caches
  std::string format = "table";  ///< table, json
  bool force = false;            ///< also replace what was changed since it was written
};

struct ValidateOptions {
  std::vector<std::string> suites;  ///< files
  std::string table;                ///< rows instead of the suite's; empty: its own
  std::string format = "table";     ///< table, json, csv, junit, github, markdown
  std::string filter;               ///< condition for rows; empty: all
  std::string svg;                  ///< picture to write; empty: none
  std::string baseline, record;     ///< recorded errors to compare with, or to write
  int jobs = 0;                     ///< rows at the same time; 0: as many as there are cores
  bool rows = false;                ///< table: every row of several suites too
  bool causes = false;              ///< table: the breakdown of each row
  bool colour = false;
  bool progress = false;  ///< on `notes`, which is a terminal
};

struct SweepOptions {
  ScenarioArgument scenario;       ///< or a file with axes
  std::vector<std::string> vary;   ///< path=values
  std::vector<std::string> where;  ///< conditions
  std::int64_t random = 0;         ///< points of the grid; 0: all, or as the file says
  std::uint64_t seed = 0;          ///< of these; 0: as the file says
  std::string objective;           ///< empty: as the file says
  std::int64_t top = 10;           ///< best points that are listed
  std::string format = "table";    ///< table, json, csv
  std::string store;               ///< file of results; empty: beside the scenario
  std::string svg;                 ///< picture to write; empty: none
  std::string shard;               ///< "2/8": only that part of the points; empty: all
  std::string point_timeout = "10min";
  std::string point_memory;  ///< that a point may take; empty: what the machine has
  bool resume = false, restart = false;
  bool any_build = false;  ///< keeps points that another build of the program has simulated
  std::string build;       ///< of this one
  int jobs = 0;            ///< points at the same time; 0: as many as there are cores
  bool colour = false;
  bool progress = false;  ///< on `notes`, which is a terminal
  int width = 80;
};

struct MergeOptions {
  std::string into;               ///< file of sweeps, made where it is missing
  std::vector<std::string> from;  ///< others
  bool any_build = false;         ///< also of points that different builds have simulated
};

/// Simulates a scenario and prints the answer. Exit code 1 when an expectation fails.
ExitCode run(const RunOptions& options, std::ostream& out, std::ostream& notes);
ExitCode search(const SearchOptions& options, std::ostream& out, std::ostream& notes);

/// Says what the step is spent on, and what each change would save, all of it simulated.
ExitCode explain(const ExplainOptions& options, std::ostream& out);

/// Says what differs between scenarios, or results, and between their answers. Exit code 1 when a
/// baseline is not met.
ExitCode compare(const CompareOptions& options, std::ostream& out, std::ostream& notes);

/// Reads and checks a scenario, and says that it is fine.
ExitCode check(const ScenarioArgument& scenario, std::ostream& out);

/// Prints one of the values between the scenario and the answer.
ExitCode show(const ShowOptions& options, std::ostream& out);

/// Writes a cluster from what `nvidia-smi topo -m` or NCCL say of a node; options.file may be "-".
ExitCode import_topology(const ImportOptions& options, std::ostream& out);

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

/// Predicts the measured runs of suites and scores the predictions. Exit code 1 when a tolerance is
/// broken, a row has no prediction, or a group is worse than recorded; 3 after Ctrl-C.
ExitCode validate(const ValidateOptions& options, std::ostream& out, std::ostream& notes);

/// Simulates a scenario along axes, keeps every outcome in a file, and prints the best. Exit code 1
/// when no point is ok; 3 after Ctrl-C.
ExitCode sweep(const SweepOptions& options, std::ostream& out, std::ostream& notes);

/// Unites files of sweeps, and says what they have together.
ExitCode merge(const MergeOptions& options, std::ostream& out);

/// Prints the names that scenarios may use: models, gpus, attention kernels, links, clusters,
/// collectives, distributions, schedules, topologies, shardings.
ExitCode list(const std::string& what, std::ostream& out);

}  // namespace stepsim
