// Measured against predicted: real trainings on this CPU, and the same as scenarios.
//
// Calibrates (stepsim calibrate cpu), trains with each setting (stepsim-train), simulates it
// (stepsim run), all of it twice, and keeps of each setting the try in which the trainer waited
// least for its cores, whatever the errors are, since others may use the machine. Nothing is fitted
// to a step. With --short three settings, once, in half a minute.
//
// Prints a table, and compares the median error and half of the mean with two limits. Exit codes: 0
// below the lower one; 1 above it on a machine with nothing else to do, or above the upper one on
// any; 77 between the two on a machine that others used, which shows nothing.
// STEPSIM_SELFCHECK_LIMIT is one limit in the place of both.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <numeric>
#include <sstream>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

namespace {

namespace fs = std::filesystem;

struct Setting {
  int ranks, layers, width, batch;
  int bucket_mib = 4;
  int workers = -1;  ///< that decode pictures; -1: numbers that are there from the start
};

/// Products and loops alone, other shapes of them, loaders that are too slow and fast enough,
/// buckets of one layer and of many.
constexpr Setting kSettings[] = {{1, 8, 1024, 64},    {1, 4, 512, 64},       {1, 4, 512, 256},
                                 {1, 12, 256, 128},   {1, 4, 256, 64, 4, 1}, {1, 8, 1024, 16, 4, 1},
                                 {2, 8, 1024, 64, 1}, {2, 8, 1024, 64, 16},  {2, 4, 1024, 256, 8},
                                 {2, 12, 512, 128, 2}};

/// How much of it.
struct Extent {
  std::vector<Setting> settings;
  int rounds;
  const char* budget;  ///< of a calibration
  int calls;           ///< of it, since the next one goes on where the last one had no time left
  double limit;        ///< of the median error on a machine with nothing else to do
  double busy_limit;   ///< on one that others use
};

/// Judgement: quiet machines came to 5 to 10 %; 0.5 does not fail a busy one by chance. Three
/// settings that are tried once, on the coarse profile of a third of the points, are off by half as
/// much again.
Extent full_extent() {
  return {{std::begin(kSettings), std::end(kSettings)}, 2, "150s", 1, 0.15, 0.5};
}
Extent short_extent() {
  return {{{1, 8, 1024, 64}, {1, 4, 512, 256}, {2, 8, 1024, 64, 4}}, 1, "15s", 8, 0.25, 0.75};
}

/// Of the cores' time that others took. Judgement: what an idle system does by itself is below.
constexpr double kQuiet = 0.03;
/// As ctest is told (SKIP_RETURN_CODE).
constexpr int kShowsNothing = 77;

/// Seconds of all cores since the machine started: all of them, and those that somebody used, other
/// machines on the same host among them; both 0 where Linux does not tell (proc(5), /proc/stat).
struct CoreTime {
  double all = 0, used = 0;
};

CoreTime core_time() {
  std::ifstream file("/proc/stat");
  std::string cpu;
  CoreTime time;
  file >> cpu;
  double ticks = 0;
  // user nice system idle iowait irq softirq steal
  for (int field = 0; field < 8 && file >> ticks; ++field) {
    time.all += ticks;
    if (field != 3 && field != 4) time.used += ticks;
  }
  const auto second = static_cast<double>(sysconf(_SC_CLK_TCK));
  return {time.all / second, time.used / second};
}

/// Of this process and of those that it waited for.
double own_seconds() {
  double seconds = 0;
  for (const int who : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
    rusage usage = {};
    getrusage(who, &usage);
    for (const timeval& time : {usage.ru_utime, usage.ru_stime})
      seconds += static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  }
  return seconds;
}

/// Which share of the cores others had since it was made.
class Others {
 public:
  /// 1 where Linux does not tell.
  double share() const {
    const CoreTime now = core_time();
    const double all = now.all - start_.all, used = now.used - start_.used;
    return all > 0 ? std::max(0.0, used - (own_seconds() - own_)) / all : 1;
  }

 private:
  CoreTime start_ = core_time();
  double own_ = own_seconds();
};

/// A step as the trainer measured it.
struct Step {
  double seconds = 0;  ///< without waiting for a core
  double waited = 0;   ///< beside that
};

struct Row {
  Setting setting;
  Step measured;
  double predicted = 0;
  double error() const { return predicted / measured.seconds - 1; }
  bool is_measured() const { return measured.seconds > 0; }
  /// Where nobody waited, or Linux does not tell, the faster one was disturbed less.
  bool is_quieter_than(const Row& other) const {
    return std::pair(measured.waited, measured.seconds) <
           std::pair(other.measured.waited, other.measured.seconds);
  }
};

[[noreturn]] void fail(const std::string& what) { throw std::runtime_error(what); }

std::string output_of(const std::string& command) {
  FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) fail("cannot run " + command);
  std::string text;
  std::array<char, 4096> part = {};
  while (std::fgets(part.data(), part.size(), pipe) != nullptr) text += part.data();
  if (pclose(pipe) != 0) fail("failed: " + command + "\n" + text);
  return text;
}

/// The named column of the last row. No cell before it may have a comma.
double cell(const std::string& csv, const std::string& column) {
  std::istringstream lines(csv);
  std::string names, values;
  std::getline(lines, names);
  std::getline(lines, values);
  std::istringstream name_cells(names), value_cells(values);
  std::string name, value;
  while (std::getline(name_cells, name, ',') && std::getline(value_cells, value, ','))
    if (name == column) return std::stod(value);
  fail("no column " + column + " in " + csv);
}

/// A number of stepsim's JSON, by its key.
double number_in(const std::string& json, const std::string& key) {
  const std::size_t at = json.find("\"" + key + "\":");
  if (at == std::string::npos) fail("no " + key + " in " + json);
  return std::stod(json.substr(at + key.size() + 3));
}

Step train(const Setting& s) {
  const std::string ranks =
      s.ranks == 1
          ? ""
          : fmt::format("timeout 300 mpirun --oversubscribe --bind-to none -n {} ", s.ranks);
  const std::string pictures =
      s.workers < 0 ? "" : fmt::format(" --pictures 320x240 --workers {}", s.workers);
  const std::string csv = output_of(fmt::format(
      "{}{} --layers {} --width {} --batch {} --bucket {} --steps {}{}", ranks, STEPSIM_TRAINER,
      s.layers, s.width, s.batch, s.bucket_mib << 20, s.workers < 0 ? 16 : 40, pictures));
  const double undisturbed = cell(csv, "undisturbed_median_s");
  return {undisturbed, cell(csv, "wall_median_s") - undisturbed};
}

std::string text_of(const fs::path& name) {
  std::ifstream file(name);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

/// With the calibrated scenario, without its data, the last key, where the setting has none.
double predict(const Setting& s, const fs::path& library) {
  std::string scenario = text_of(library / "scenarios" / "core.yaml");
  if (s.workers < 0) scenario.resize(std::min(scenario.size(), scenario.find("\ndata:")));
  const fs::path changed = library / "scenarios" / "setting.yaml";
  std::ofstream(changed) << scenario;
  std::string command = fmt::format(
      "STEPSIM_LIBRARY={} {} run {} --format json --set cluster.gpus_per_node={} --set "
      "model.layers={} --set model.width={} --set training.micro_batch={} --set "
      "training.global_batch={} --set parallelism.data.bucket={}MiB",
      library.string(), STEPSIM_PROGRAM, changed.string(), s.ranks, s.layers, s.width, s.batch,
      s.ranks * s.batch, s.bucket_mib);
  if (s.workers >= 0)
    command +=
        fmt::format(" --set data.workers={} --set run.steps=40 --set run.warmup=8", s.workers);
  return number_in(output_of(command), "step_time_s");
}

/// A library in a temporary folder, which goes with it.
class Library {
 public:
  Library() {
    std::string name = (fs::temp_directory_path() / "stepsim-selfcheck-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) fail("no temporary folder could be made");
    folder_ = name;
  }
  ~Library() {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

  const fs::path& folder() const { return folder_; }
  void calibrate(const Extent& extent) const {
    for (const char* old : {"gpus/core.json", "links/core.yaml"})
      fs::remove(folder_ / "calib" / old);
    for (int call = 1; call < extent.calls; ++call) {
      try {
        return calibrate_once(extent);
      } catch (const std::runtime_error& error) {
        std::cerr << error.what() << "\n";
      }
    }
    calibrate_once(extent);
  }
  /// Whether the budget sufficed for what the setting needs beside kernels.
  bool has(const Setting& setting) const {
    if (setting.workers >= 0 &&
        text_of(folder_ / "scenarios" / "core.yaml").find("\ndata:") == std::string::npos)
      return false;
    return setting.ranks == 1 || fs::exists(folder_ / "calib" / "links" / "core.yaml");
  }

 private:
  void calibrate_once(const Extent& extent) const {
    const char* budget = std::getenv("STEPSIM_SELFCHECK_BUDGET");
    std::cerr << output_of(fmt::format("{} calibrate cpu -o {}/calib/gpus/core.yaml --budget {}",
                                       STEPSIM_PROGRAM, folder_.string(),
                                       budget == nullptr ? extent.budget : budget));
  }

  fs::path folder_;
};

std::vector<Row> measure_all(const Extent& extent) {
  const Library library;
  std::vector<Row> rows;
  for (const Setting& setting : extent.settings)
    if (setting.ranks == 1 || std::thread::hardware_concurrency() > 1) rows.push_back({setting});
  for (int round = 0; round < extent.rounds; ++round) {
    library.calibrate(extent);
    for (Row& row : rows) {
      if (!library.has(row.setting)) continue;
      const Row now{row.setting, train(row.setting), predict(row.setting, library.folder())};
      if (!row.is_measured() || now.is_quieter_than(row)) row = now;
    }
  }
  const std::size_t all = rows.size();
  std::erase_if(rows, [](const Row& row) { return !row.is_measured(); });
  if (rows.size() < all)
    std::cerr << fmt::format("{} of {} settings are left out: calibration had not enough time\n",
                             all - rows.size(), all);
  return rows;
}

void print(const std::vector<Row>& rows) {
  fmt::print("ranks layers width batch bucket workers   measured  predicted    error\n");
  for (const Row& row : rows) {
    const Setting& s = row.setting;
    fmt::print("{:>5} {:>6} {:>5} {:>5} {:>6} {:>7} {:>7.2f} ms {:>7.2f} ms {:>+6.1f} %\n", s.ranks,
               s.layers, s.width, s.batch, s.ranks == 1 ? "-" : fmt::format("{} MiB", s.bucket_mib),
               s.workers < 0 ? "-" : std::to_string(s.workers), row.measured.seconds * 1e3,
               row.predicted * 1e3, row.error() * 100);
  }
}

int check(const std::vector<Row>& rows, const Extent& extent, double others) {
  if (rows.empty()) fail("nothing could be compared");
  std::vector<double> errors;
  for (const Row& row : rows) errors.push_back(std::abs(row.error()));
  std::sort(errors.begin(), errors.end());
  const double mean =
      std::accumulate(errors.begin(), errors.end(), 0.0) / static_cast<double>(errors.size());
  const double median = errors[errors.size() / 2];
  const char* text = std::getenv("STEPSIM_SELFCHECK_LIMIT");
  const double limit = text == nullptr ? extent.limit : std::atof(text);
  const double most = text == nullptr ? extent.busy_limit : limit;
  const double score = std::max(median, mean / 2);
  fmt::print("mean {:.1f} %, median {:.1f} %, largest {:.1f} %: {} the limit of {:.0f} %\n",
             mean * 100, median * 100, errors.back() * 100, score <= limit ? "within" : "above",
             limit * 100);
  if (score <= limit) return 0;
  fmt::print("others had {:.0f} % of the cores' time meanwhile\n", others * 100);
  return score <= most && others > kQuiet ? kShowsNothing : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const bool is_short = argc == 2 && std::string_view(argv[1]) == "--short";
  if (argc > 1 && !is_short) {
    std::cerr << "usage: stepsim-selfcheck [--short]\n";
    return 2;
  }
  // As one does in containers; Open MPI asks twice.
  setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 1);
  setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 1);
  try {
    const Extent extent = is_short ? short_extent() : full_extent();
    const Others others;
    const std::vector<Row> rows = measure_all(extent);
    const double share = others.share();
    print(rows);
    return check(rows, extent, share);
  } catch (const std::exception& error) {
    std::cerr << "stepsim-selfcheck: " << error.what() << "\n";
    return 70;
  }
}
