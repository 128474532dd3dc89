// stepsim calibrate cpu: measures this machine, then writes all that a training on it needs.
#include <algorithm>
#include <filesystem>
#include <ostream>
#include <thread>

#include <fmt/format.h>
#include <unistd.h>

#include "sim/calibrate/measurement/read_measurements.hpp"
#include "sim/calibrate/profile/check_files_together.hpp"
#include "sim/calibrate/profile/cpu_profile.hpp"
#include "sim/command/calibrate.hpp"
#include "sim/core/duration.hpp"
#include "sim/core/error.hpp"
#include "sim/core/shell_word.hpp"
#include "sim/core/source.hpp"
#include "sim/core/system/installed.hpp"
#include "sim/process/child.hpp"
#include "sim/text/file.hpp"
#include "sim/text/seal.hpp"

namespace stepsim {
namespace {

namespace fs = std::filesystem;

constexpr const char* kProgram = "stepsim-measure-cpu";
constexpr const char* kMpirun = "mpirun";
constexpr const char* kCommand = "stepsim calibrate cpu";
/// Beyond the budget, for the point at hand and the start of MPI; judgement: both take seconds.
constexpr Seconds kGrace{60};
/// What the measuring program prints where no point is missing (calib/harness/program.hpp).
constexpr std::string_view kComplete = "complete: ";

/// The files of one calibration, below a root of the library.
struct Places {
  std::string name;
  fs::path root, gpu, link, cluster, scenario, measurements;
};

Places places_of(const CalibrateCpuOptions& options) {
  const fs::path gpu(options.output);
  const fs::path folder = fs::absolute(gpu).parent_path();
  const bool right = gpu.extension() == ".yaml" && folder.filename() == "gpus" &&
                     folder.parent_path().filename() == "calib";
  if (!right)
    throw UserError(
        fmt::format("-o {}: scenarios find profiles by name in calib/gpus/, so it has to be like "
                    "calib/gpus/this-machine.yaml",
                    options.output));
  const fs::path root = folder.parent_path().parent_path();
  const std::string name = gpu.stem().string(), file = name + ".yaml";
  return {name,
          root,
          gpu,
          root / "calib" / "links" / file,
          root / "scenarios" / "clusters" / file,
          root / "scenarios" / file,
          fs::path(gpu).replace_extension(".json")};
}

std::string measuring_program() {
  std::error_code failed;
  const fs::path own = fs::read_symlink("/proc/self/exe", failed);
  const fs::path program = own.parent_path() / kProgram;
  if (!failed && access(program.c_str(), X_OK) == 0) return program.string();
  throw UserError(
      fmt::format("{} is not in {}: {}", kProgram, own.parent_path().string(),
                  installed_prefix()
                      ? "it comes with the package stepsim-mpi"
                      : "it is built beside stepsim where CMake finds OpenBLAS and MPI (apt-get "
                        "install libopenblas-dev libopenmpi-dev openmpi-bin, then ./dev build)"));
}

int cores_here() { return static_cast<int>(std::max(1U, std::thread::hardware_concurrency())); }

/// The ranks to measure with: as many as are wanted, or two; one where a core or mpirun is missing
/// for a second.
int ranks_for(const CalibrateCpuOptions& options, std::ostream& notes) {
  const int cores = cores_here();
  const int wanted = options.ranks.value_or(std::min(cores, 2));
  if (wanted > cores)
    throw UserError(
        fmt::format("--ranks {}: a rank is a core, and this machine has {}", wanted, cores));
  if (wanted == 1 || !find_on_path(kMpirun).empty()) return wanted;
  if (options.ranks)
    throw UserError(
        fmt::format("--ranks {}: there is no mpirun (apt-get install openmpi-bin)", wanted));
  notes << "no mpirun: one rank is measured, and no link\n";
  return 1;
}

/// The measuring program's exit codes are those of stepsim (calib/harness/options.hpp).
void check_code(int code, const std::string& program) {
  if (code == 0) return;
  const std::string text =
      fmt::format("{} failed with exit code {}; what it said stands above", program, code);
  if (code == static_cast<int>(ExitCode::bad_input)) throw UserError(text);
  if (code == static_cast<int>(ExitCode::io)) throw IoError(text);
  throw SimulationError(text);
}

/// Whether all points are measured now.
bool measure(const CalibrateCpuOptions& options, const std::string& program, int ranks,
             const Places& places, std::ostream& notes) {
  const Seconds budget{duration_of("--budget", options.budget)};
  std::vector<std::string> words;
  if (ranks > 1)
    words = {find_on_path(kMpirun), "--oversubscribe", "--bind-to", "none", "-n",
             std::to_string(ranks)};
  std::vector<std::string> own{program, "--budget", fmt::format("{:.17g}s", budget.seconds()), "-o",
                               places.measurements.string()};
  if (!options.working_set.empty()) own.insert(own.end(), {"--working-set", options.working_set});
  words.insert(words.end(), own.begin(), own.end());
  // Open MPI wants to be asked twice before it runs as root, as one does in containers.
  const ChildOutput said = output_of_child(
      words, budget + kGrace, {"OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1"});
  notes << said.text;
  check_code(said.code, ranks > 1 ? "mpirun " + program : program);
  return said.text.find(kComplete) != std::string::npos;
}

void make_folders(const Places& places) {
  for (const fs::path& file : {places.gpu, places.link, places.cluster, places.scenario}) {
    const fs::path folder = fs::absolute(file).parent_path();
    std::error_code failed;
    fs::create_directories(folder, failed);
    if (failed) throw IoError(fmt::format("cannot make {}: {}", folder.string(), failed.message()));
  }
}

MeasuredFile read_measured(const std::string& name) {
  Problems problems;
  MeasuredFile file = read_measurements(read_source(name, kLargestMeasurements), problems);
  problems.throw_if_any();
  return file;
}

Calibration as_calibration(const CpuProfile& made, const Measurements& measured) {
  Calibration calibration;
  calibration.device = measured.device.name;
  calibration.points = static_cast<int>(std::ranges::count_if(
      measured.records, [](const PointRecord& record) { return record.skipped.empty(); }));
  calibration.families = made.families;
  return calibration;
}

/// What the fits lack, and what helps.
std::string time_text(const CalibrateCpuOptions& options, int points) {
  return fmt::format(
      "Measuring used up the budget of {} before all points were measured: the fits are to {}. The "
      "same call goes on from there.\n",
      options.budget, points);
}

Output output_at(const fs::path& place, const CalibrateCpuOptions& options) {
  return {"-o", place.string(), sealed_by(kCommand), options.force};
}

/// Without those that were not made.
std::vector<OutputText> files_of(const CpuProfile& made, const Places& places,
                                 const CalibrateCpuOptions& options) {
  std::vector<OutputText> files;
  for (const auto& [place, text] : {std::pair{places.gpu, made.gpu_text},
                                    {places.link, made.link_text},
                                    {places.cluster, made.cluster_text},
                                    {places.scenario, made.scenario_text}})
    if (!text.empty()) files.push_back({output_at(place, options), sealed(text, kCommand)});
  return files;
}

}  // namespace

ExitCode calibrate_cpu(const CalibrateCpuOptions& options, std::ostream& out, std::ostream& notes) {
  const Places places = places_of(options);
  (void)duration_of("--budget", options.budget);
  std::vector<Output> outputs;
  for (const fs::path& place : {places.gpu, places.link, places.cluster, places.scenario})
    outputs.push_back(output_at(place, options));
  check_replaced(outputs);
  const std::string program = measuring_program();
  const int ranks = ranks_for(options, notes);
  make_folders(places);
  const bool is_complete = measure(options, program, ranks, places, notes);
  const MeasuredFile measured = read_measured(places.measurements.string());
  const CpuProfile made = cpu_profile(measured, places.name, cores_here());
  const Calibration calibration = as_calibration(made, measured.content);
  const std::vector<OutputText> files = files_of(made, places, options);
  check_files_together(files, places.root.string());
  save_files(files);
  const bool is_table = options.format != "json";
  out << (is_table ? calibration_text(calibration) + "\n" : calibration_json(calibration));
  if (!is_complete) (is_table ? out : notes) << time_text(options, calibration.points);
  for (const OutputText& one : files)
    if (is_table) out << shown_path(one.output.path) << ": written\n";
  return ExitCode::ok;
}

}  // namespace stepsim
