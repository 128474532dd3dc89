// The program: options, a CPU, the points that are still missing, and a file of measurements.
//
// Rank 0 leads: it has the file and the clock, and tells the others which point comes next.
#include <filesystem>
#include <iostream>
#include <map>

#include <fmt/format.h>

#include "calib/cpu/device.hpp"
#include "calib/cpu/gemm.hpp"
#include "calib/cpu/laboratory.hpp"
#include "calib/cpu/points.hpp"
#include "calib/harness/campaign.hpp"
#include "calib/harness/program.hpp"
#include "sim/core/error.hpp"
#include "sim/core/version.hpp"

namespace stepsim::cpu {
namespace {

using namespace calib;

constexpr double kEnd = -1;

const HarnessProgram kProgram{.name = "stepsim-measure-cpu",
                              .device = "CPU",
                              .absent = "",
                              .failed = "MPI or a library",
                              .example = "--budget 30s -o my-cpu.json",
                              .numbered = false};

std::string working_set_in(const Versions& versions) {
  const auto found = versions.find(kWorkingSet);
  return found == versions.end() ? "beyond the caches" : found->second + " bytes";
}

Versions versions(const HarnessOptions& options, const Ranks& ranks) {
  Versions all{{"harness", fmt::format("{} {}", kProgram.name, kVersion)},
               {"blas", blas_version()}};
  if (ranks.size() > 1) all["mpi"] = ranks.version();
  if (options.working_set) all[kWorkingSet] = std::to_string(*options.working_set);
  return all;
}

std::int64_t bytes_for(const HarnessOptions& options) {
  return options.working_set.value_or(beyond_cache(last_cache_bytes()));
}

/// Begins the file of measurements, or resumes it: a file of as many ranks and an equal working
/// set.
Measurements begin_or_resume(const HarnessOptions& options, const Ranks& ranks) {
  const DeviceFacts device = read_device(ranks.size());
  const Versions now = versions(options, ranks);
  const Measurements all = calib::begin_or_resume(options.output, device, now);
  if (working_set_in(all.software) != working_set_in(now))
    throw UserError(
        fmt::format("{} was measured on operands in {}, these are to be {}: name another file",
                    options.output, working_set_in(all.software), working_set_in(now)));
  if (all.device.gpus != device.gpus)
    throw UserError(
        fmt::format("{} was measured with {} ranks, these are {}: start as many, or "
                    "name another file",
                    options.output, all.device.gpus, device.gpus));
  return all;
}

HarnessExit lead(const HarnessOptions& options, const std::vector<Point>& points,
                 const Bench& bench) {
  Measurements measurements = begin_or_resume(options, bench.ranks);
  std::map<std::string, std::size_t> numbers;
  std::vector<Point> wanted;
  for (std::size_t i = 0; i < points.size(); ++i) {
    numbers[identity(points[i])] = i;
    if (options.wants(points[i])) wanted.push_back(points[i]);
  }
  const Selection selection =
      select(wanted, measurements, measurements.device, {.collectives = true}, options.again);
  say(kProgram, fmt::format("{}, ranks {}: {} points to measure, {} already in {}",
                            measurements.device.name, bench.ranks.size(),
                            selection.to_measure.size(), selection.already, options.output));
  const auto measure_here = [&](const Point& point) {
    (void)bench.ranks.of_first(static_cast<double>(numbers.at(identity(point))));
    return measure(point, bench);
  };
  const HarnessExit exit = measure_points(kProgram, options, selection.to_measure,
                                          selection.already, measurements, measure_here);
  (void)bench.ranks.of_first(kEnd);
  return exit;
}

void follow(const std::vector<Point>& points, const Bench& bench) {
  for (;;) {
    const double number = bench.ranks.of_first(0);
    if (number == kEnd) return;
    try {
      (void)measure(points.at(static_cast<std::size_t>(number)), bench);
    } catch (const NotOffered&) {
      continue;  // rank 0 knows it, and says so
    }
  }
}

/// The part of every rank: rank 0 leads, the others follow.
HarnessExit take_part(const HarnessOptions& options, const Ranks& ranks) {
  const std::vector<Point> points = points_for(ranks.size(), bytes_for(options));
  if (options.list) {
    for (const Point& point : points)
      if (ranks.rank() == 0 && options.wants(point)) std::cout << identity(point) << "\n";
    return HarnessExit::ok;
  }
  stop_soon();  // stops all ranks: mpirun passes signals on to each
  Arena arena(bytes_for(options));
  const std::string folder =
      options.folder.empty() ? std::filesystem::temp_directory_path().string() : options.folder;
  const Bench bench{ranks, arena, folder};
  if (ranks.rank() == 0) return lead(options, points, bench);
  follow(points, bench);
  return HarnessExit::ok;
}

/// Runs the program. A rank that stops early says why before it ends the others.
HarnessExit answer(int argc, char** argv) {
  const auto options = parse_options({argv + 1, argv + argc}, std::cout, kProgram);
  if (!options) return HarnessExit::ok;
  use_one_thread();
  const Ranks ranks(argc, argv);
  bool is_through = false;
  const int code = exit_code_of(kProgram, [&] {
    const HarnessExit exit = take_part(*options, ranks);
    is_through = true;
    return exit;
  });
  if (!is_through) ranks.give_up(code);
  return static_cast<HarnessExit>(code);
}

}  // namespace
}  // namespace stepsim::cpu

int main(int argc, char** argv) {
  using namespace stepsim;
  return calib::exit_code_of(cpu::kProgram, [&] { return cpu::answer(argc, argv); });
}
