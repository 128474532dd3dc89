// The program: options, a CPU, the points that are still missing, and a file of measurements.
//
// Rank 0 leads: it has the file and the clock, and tells the others which point comes next.
#include <csignal>
#include <ctime>
#include <filesystem>
#include <iostream>
#include <map>

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <unistd.h>

#include "calib/cpu/device.hpp"
#include "calib/cpu/gemm.hpp"
#include "calib/cpu/laboratory.hpp"
#include "calib/cpu/points.hpp"
#include "calib/harness/campaign.hpp"
#include "calib/harness/options.hpp"
#include "calib/harness/store.hpp"
#include "sim/core/error.hpp"
#include "sim/core/version.hpp"

namespace stepsim::cpu {
namespace {

using namespace calib;

constexpr double kEnd = -1;

const HarnessProgram kProgram{.name = "stepsim-measure-cpu",
                              .device = "CPU",
                              .failed = "MPI or a library",
                              .example = "--budget 30s -o my-cpu.json",
                              .numbered = false};

volatile std::sig_atomic_t interrupted = 0;

/// The point at hand is finished and the file written; a second signal ends at once.
void stop_soon() {
  for (const int signal : {SIGINT, SIGTERM}) {
    struct sigaction action = {};
    action.sa_handler = [](int) { interrupted = 1; };
    action.sa_flags = static_cast<int>(SA_RESETHAND) | SA_RESTART;
    sigaction(signal, &action, nullptr);
  }
}

void say(const std::string& line) { std::cerr << kProgram.name << ": " << line << "\n"; }

Versions versions(const Ranks& ranks) {
  Versions all{{"harness", fmt::format("{} {}", kProgram.name, kVersion)},
               {"blas", blas_version()}};
  if (ranks.size() > 1) all["mpi"] = ranks.version();
  return all;
}

Measurements begin_or_resume(const HarnessOptions& options, const Ranks& ranks) {
  const DeviceFacts device = read_device(ranks.size());
  if (auto earlier = load_measurements(options.output)) {
    check_same_device(*earlier, device, options.output);
    if (earlier->device.gpus != device.gpus)
      throw UserError(fmt::format("{} was measured with {} ranks, these are {}: name another file",
                                  options.output, earlier->device.gpus, device.gpus));
    return *earlier;
  }
  const std::string now = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
  return {device, versions(ranks), now, {}};
}

HarnessExit say_ending(Ending ending, const std::string& file) {
  if (ending == Ending::complete) say(fmt::format("complete: {}", file));
  if (ending == Ending::out_of_time)
    say(fmt::format("time is up: {} has what was measured, the same call goes on from there",
                    file));
  if (ending == Ending::interrupted)
    say(fmt::format("interrupted: {} has what was measured, the same call goes on from there",
                    file));
  return ending == Ending::interrupted ? HarnessExit::interrupted : HarnessExit::ok;
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
  say(fmt::format("{}, ranks {}: {} points to measure, {} already in {}", measurements.device.name,
                  bench.ranks.size(), selection.to_measure.size(), selection.already,
                  options.output));
  Surroundings surroundings;
  surroundings.measure = [&](const Point& point) {
    (void)bench.ranks.of_first(static_cast<double>(numbers.at(identity(point))));
    return measure(point, bench);
  };
  surroundings.save = [&](const Measurements& all) { replace_file(options.output, to_json(all)); };
  surroundings.say = say;
  surroundings.interrupted = &interrupted;
  const Budget budget(options.budget_s, Budget::steady_clock());
  Progress progress(std::cerr, isatty(STDERR_FILENO) != 0, 100);
  const Ending ending =
      run_campaign(selection.to_measure, measurements, surroundings, budget, progress);
  (void)bench.ranks.of_first(kEnd);
  return say_ending(ending, options.output);
}

void follow(const std::vector<Point>& points, const Bench& bench) {
  for (;;) {
    const double number = bench.ranks.of_first(0);
    if (number == kEnd) return;
    try {
      (void)measure(points.at(static_cast<std::size_t>(number)), bench);
    } catch (const NotOffered&) {
      continue;  // rank 0 knows it, too, and says so
    }
  }
}

HarnessExit answer(int argc, char** argv) {
  const auto options = parse_options({argv + 1, argv + argc}, std::cout, kProgram);
  if (!options) return HarnessExit::ok;
  use_one_thread();
  const Ranks ranks(argc, argv);
  const std::vector<Point> points = points_for(ranks.size());
  if (options->list) {
    for (const Point& point : points)
      if (ranks.rank() == 0 && options->wants(point)) std::cout << identity(point) << "\n";
    return HarnessExit::ok;
  }
  stop_soon();
  Arena arena(read_device(ranks.size()).l2_bytes);
  const std::string folder =
      options->folder.empty() ? std::filesystem::temp_directory_path().string() : options->folder;
  const Bench bench{ranks, arena, folder};
  if (ranks.rank() == 0) return lead(*options, points, bench);
  follow(points, bench);
  return HarnessExit::ok;
}

}  // namespace
}  // namespace stepsim::cpu

int main(int argc, char** argv) {
  using namespace stepsim;
  using calib::HarnessExit;
  const auto fail = [](HarnessExit code, const std::exception& error) {
    cpu::say(error.what());
    return static_cast<int>(code);
  };
  try {
    return static_cast<int>(cpu::answer(argc, argv));
  } catch (const UserError& error) {
    return fail(HarnessExit::bad_input, error);
  } catch (const IoError& error) {
    return fail(HarnessExit::io, error);
  } catch (const std::exception& error) {
    return fail(HarnessExit::failed, error);
  }
}
