// stepsim calibrate cpu: measures this machine, then writes all that a training on it needs.
#include <algorithm>
#include <filesystem>
#include <ostream>
#include <thread>

#include <fmt/format.h>
#include <unistd.h>

#include "sim/command/child.hpp"
#include "sim/command/command.hpp"
#include "sim/command/cpu_profile.hpp"
#include "sim/core/error.hpp"
#include "sim/core/source.hpp"
#include "sim/measurement/measurements.hpp"
#include "sim/report/file.hpp"

namespace stepsim {
namespace {

namespace fs = std::filesystem;

constexpr const char* kProgram = "stepsim-measure-cpu";
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

double seconds_of(const std::string& text) {
  std::size_t end = 0;
  double number = 0;
  try {
    number = std::stod(text, &end);
  } catch (const std::exception&) {
    end = 0;
  }
  const std::string unit = text.substr(end);
  if (end == 0 || !(number > 0) || number > 1e6 || (unit != "s" && unit != "min"))
    throw UserError(fmt::format("--budget {}: a time like 90s or 2min", text));
  return unit == "s" ? number : 60 * number;
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

void measure(const CalibrateCpuOptions& options, const std::string& program, const Places& places,
             std::ostream& notes) {
  const double budget = seconds_of(options.budget);
  const std::string mpirun = find_on_path("mpirun");
  const int ranks = ranks_for(options, mpirun, notes);
  std::vector<std::string> words;
  if (ranks > 1)
    words = {mpirun, "--oversubscribe", "--bind-to", "none", "-n", std::to_string(ranks)};
  const std::vector<std::string> own{program, "--budget", fmt::format("{:.17g}s", budget), "-o",
                                     places.measurements.string()};
  words.insert(words.end(), own.begin(), own.end());
  // Open MPI wants to be asked twice before it runs as root, as one does in containers.
  const int code = run_child(
      words, {"OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1"}, budget + kGrace);
  if (code != 0)
    throw SimulationError(fmt::format("{} failed with exit code {}; what it said stands above",
                                      ranks > 1 ? "mpirun " + program : program, code));
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

}  // namespace

ExitCode calibrate_cpu(const CalibrateCpuOptions& options, std::ostream& out, std::ostream& notes) {
  const Places places = places_of(options);
  const std::string program = measuring_program();
  make_folders(places);
  measure(options, program, places, notes);
  const std::string file = places.measurements.string();
  const MeasuredFile measured{file, calib::parse_measurements(read_source(file)->text, file)};
  const int cores = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  const CpuProfile made = cpu_profile(measured, places.name, cores);
  const Calibration calibration = as_calibration(made, measured.content);
  out << (options.format == "json" ? calibration_json(calibration)
                                   : calibration_text(calibration) + "\n");
  const auto save = [&](const fs::path& path, const std::string& text) {
    if (text.empty()) return;
    save_file(path.string(), text);
    if (options.format != "json") out << path.string() << ": written\n";
  };
  save(places.gpu, made.gpu_text);
  save(places.link, made.link_text);
  save(places.cluster, made.cluster_text);
  save(places.scenario, made.scenario_text);
  return ExitCode::ok;
}

}  // namespace stepsim
