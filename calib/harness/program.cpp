// Begins or resumes a file of measurements, runs a campaign over it, and says how that ended.
#include "calib/harness/program.hpp"

#include <csignal>
#include <ctime>
#include <iostream>

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <unistd.h>

#include "calib/harness/campaign.hpp"
#include "calib/harness/store.hpp"
#include "sim/core/error.hpp"

namespace stepsim::calib {
namespace {

volatile std::sig_atomic_t interrupted = 0;

/// How the campaign ended, in a line. The first word tells programs whether all is there.
std::string ending_text(Ending ending, std::size_t done, std::size_t all, const std::string& file) {
  if (ending == Ending::complete) return "complete: " + file;
  return fmt::format("{}: {} of {} points are in {}, the same call goes on from there",
                     ending == Ending::out_of_time ? "time is up" : "interrupted", done, all, file);
}

}  // namespace

void stop_soon() {
  for (const int signal : {SIGINT, SIGTERM}) {
    struct sigaction action = {};
    action.sa_handler = [](int) { interrupted = 1; };
    action.sa_flags = static_cast<int>(SA_RESETHAND) | SA_RESTART;
    sigaction(signal, &action, nullptr);
  }
}

void say(const HarnessProgram& program, const std::string& line) {
  std::cerr << program.name << ": " << line << "\n";
}

Measurements begin_or_resume(const std::string& file, const DeviceFacts& device,
                             const Versions& versions) {
  if (auto earlier = load_measurements(file)) {
    check_same_device(*earlier, device, file);
    return *earlier;
  }
  const std::string now = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
  return {device, versions, now, {}};
}

HarnessExit measure_points(const HarnessProgram& program, const HarnessOptions& options,
                           const std::vector<Point>& points, std::size_t already,
                           Measurements& measurements,
                           const std::function<Measured(const Point&)>& measure) {
  stop_soon();
  std::size_t done = already;
  Surroundings surroundings;
  surroundings.measure = [&](const Point& point) {
    ++done;
    return measure(point);
  };
  surroundings.save = [&](const Measurements& all) { replace_file(options.output, to_json(all)); };
  surroundings.say = [&](const std::string& line) { say(program, line); };
  surroundings.interrupted = &interrupted;
  const Budget budget(options.budget_s, Budget::steady_clock());
  Progress progress(std::cerr, isatty(STDERR_FILENO) != 0, 100);
  const Ending ending = run_campaign(points, measurements, surroundings, budget, progress);
  std::cout << ending_text(ending, done, already + points.size(), options.output) << std::endl;
  return ending == Ending::interrupted ? HarnessExit::interrupted : HarnessExit::ok;
}

int exit_code_of(const HarnessProgram& program, const std::function<HarnessExit()>& answer) {
  const auto fail = [&](HarnessExit code, const std::exception& error) {
    say(program, error.what());
    return static_cast<int>(code);
  };
  try {
    return static_cast<int>(answer());
  } catch (const UserError& error) {
    return fail(HarnessExit::bad_input, error);
  } catch (const IoError& error) {
    return fail(HarnessExit::io, error);
  } catch (const std::exception& error) {
    return fail(HarnessExit::failed, error);
  }
}

}  // namespace stepsim::calib
