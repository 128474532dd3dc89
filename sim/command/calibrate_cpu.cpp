// stepsim calibrate cpu: measures this machine, then writes all that a training on it needs.
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <ostream>
#include <thread>

#include <fmt/format.h>
#include <unistd.h>

#include "sim/command/child.hpp"
#include "sim/command/command.hpp"
#include "sim/command/cpu_profile.hpp"
#include "sim/command/written_file.hpp"
#include "sim/core/duration.hpp"
#include "sim/core/error.hpp"
#include "sim/core/source.hpp"
#include "sim/measurement/measurements.hpp"

namespace stepsim {
namespace {

namespace fs = std::filesystem;

constexpr const char* kProgram = "stepsim-measure-cpu";
constexpr const char* kCommand = "stepsim calibrate cpu";
/// Beyond the budget: the point at hand, and the start of MPI.
constexpr double kGrace = 60;

/// The files of one calibration, below a root of the library.
struct Places {
  std::string name;
  fs::path gpu, link, cluster, scenario, measurements;
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
  Places places{name,
                gpu,
                root / "calib" / "links" / file,
                root / "scenarios" / "clusters" / file,
                root / "scenarios" / file,
                fs::path(gpu).replace_extension(".json")};
  if (!options.link.empty()) places.link = options.link;
  return places;
}

std::string measuring_program() {
  std::error_code failed;
  const fs::path own = fs::read_symlink("/proc/self/exe", failed);
  const fs::path program = own.parent_path() / kProgram;
  if (!failed && access(program.c_str(), X_OK) == 0) return program.string();
  throw UserError(fmt::format(
      "{0} is not in {1}: it is built beside stepsim where CMake finds OpenBLAS and MPI (apt-get "
      "install libopenblas-dev libopenmpi-dev openmpi-bin, then ./dev build)",
      kProgram, own.parent_path().string()));
}

/// As many as are wanted, or two; one where a core or mpirun is missing for a second.
int ranks_for(const CalibrateCpuOptions& options, const std::string& mpirun, std::ostream& notes) {
  const int wanted = options.ranks.value_or(std::thread::hardware_concurrency() > 1 ? 2 : 1);
  if (wanted == 1 || !mpirun.empty()) return wanted;
  if (options.ranks)
    throw UserError(
        fmt::format("--ranks {}: there is no mpirun (apt-get install openmpi-bin)", wanted));
  notes << "no mpirun: one rank is measured, and no link\n";
  return 1;
}

/// Whether the budget was not used up, so that all points were measured.
bool measure(const CalibrateCpuOptions& options, const std::string& program, const Places& places,
             std::ostream& notes) {
  const double budget = parse_duration(options.budget);
  const std::string mpirun = find_on_path("mpirun");
  const int ranks = ranks_for(options, mpirun, notes);
  std::vector<std::string> words;
  if (ranks > 1)
    words = {mpirun, "--oversubscribe", "--bind-to", "none", "-n", std::to_string(ranks)};
  const std::vector<std::string> own{program, "--budget", fmt::format("{:.17g}s", budget), "-o",
                                     places.measurements.string()};
  words.insert(words.end(), own.begin(), own.end());
  const auto start = std::chrono::steady_clock::now();
  // Open MPI wants to be asked twice before it runs as root, as one does in containers.
  const int code = run_child(
      words, {"OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1"}, budget + kGrace);
  if (code != 0)
    throw SimulationError(fmt::format("{} failed with exit code {}; what it said stands above",
                                      ranks > 1 ? "mpirun " + program : program, code));
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
  return taken.count() < budget;
}

void make_folders(const Places& places) {
  for (const fs::path& file : {places.gpu, places.link, places.cluster, places.scenario}) {
    const fs::path folder = fs::absolute(file).parent_path();
    std::error_code failed;
    fs::create_directories(folder, failed);
    if (failed) throw IoError(fmt::format("cannot make {}: {}", folder.string(), failed.message()));
  }
}

Calibration as_calibration(const CpuProfile& made, const calib::Measurements& measured) {
  Calibration calibration;
  calibration.device = measured.device.name;
  calibration.points = static_cast<int>(
      std::count_if(measured.records.begin(), measured.records.end(),
                    [](const calib::Record& record) { return record.skipped.empty(); }));
  calibration.families = made.families;
  return calibration;
}

/// What the fits may lack, and what helps.
std::string time_text(const CalibrateCpuOptions& options, int points) {
  return fmt::format(
      "Measuring used up the budget of {}: the fits are to {} points, perhaps not to all. The same "
      "call goes on from there. A machine with nothing else to do needs 45 s for all.\n",
      options.budget, points);
}

/// Without those that were not made.
std::vector<FileText> files_of(const CpuProfile& made, const Places& places) {
  std::vector<FileText> files;
  for (const auto& [place, text] : {std::pair{places.gpu, made.gpu_text},
                                    {places.link, made.link_text},
                                    {places.cluster, made.cluster_text},
                                    {places.scenario, made.scenario_text}})
    if (!text.empty()) files.push_back({place.string(), sealed(text, kCommand)});
  return files;
}

}  // namespace

ExitCode calibrate_cpu(const CalibrateCpuOptions& options, std::ostream& out, std::ostream& notes) {
  const Places places = places_of(options);
  (void)parse_duration(options.budget);
  refuse_to_replace({places.gpu.string(), places.link.string(), places.cluster.string(),
                     places.scenario.string()},
                    kCommand, options.force);
  const std::string program = measuring_program();
  make_folders(places);
  const bool is_complete = measure(options, program, places, notes);
  const std::string file = places.measurements.string();
  const MeasuredFile measured{file, calib::parse_measurements(read_source(file)->text, file)};
  const int cores = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  const CpuProfile made = cpu_profile(measured, places.name, cores);
  const Calibration calibration = as_calibration(made, measured.content);
  const std::vector<FileText> files = files_of(made, places);
  save_files(files);
  const bool is_table = options.format != "json";
  out << (is_table ? calibration_text(calibration) + "\n" : calibration_json(calibration));
  if (!is_complete) (is_table ? out : notes) << time_text(options, calibration.points);
  for (const FileText& one : files)
    if (is_table) out << one.path << ": written\n";
  return ExitCode::ok;
}

}  // namespace stepsim
