// The program: options, a GPU, the points that are still missing, and a file of measurements.
#include <csignal>
#include <ctime>
#include <iostream>

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <unistd.h>

#include "calib/cuda/device.hpp"
#include "calib/cuda/laboratory.hpp"
#include "calib/harness/campaign.hpp"
#include "calib/harness/options.hpp"
#include "calib/harness/points.hpp"
#include "calib/harness/store.hpp"
#include "sim/core/error.hpp"

namespace stepsim::calib::cuda {
namespace {

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

std::vector<Point> wanted_points(const HarnessOptions& options) {
  std::vector<Point> points;
  for (const Point& point : all_points())
    if (options.wants(point)) points.push_back(point);
  return points;
}

Measurements begin_or_resume(const HarnessOptions& options, const Laboratory& laboratory) {
  if (auto earlier = load_measurements(options.output)) {
    check_same_device(*earlier, laboratory.device(), options.output);
    return *earlier;
  }
  const std::string now = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
  return {laboratory.device(), laboratory.versions(), now, {}};
}

void say(const std::string& line) { std::cerr << "stepsim-measure-cuda: " << line << "\n"; }

void say_plan(const Selection& selection, const DeviceFacts& device, const std::string& file) {
  say(fmt::format("{}: {} points to measure, {} already in {}", device.name,
                  selection.to_measure.size(), selection.already, file));
  for (const auto& [reason, count] : selection.left_out)
    say(fmt::format("{} points left out: {}", count, reason));
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

HarnessExit measure(const HarnessOptions& options) {
  if (const std::string reason = why_no_device(options.device); !reason.empty()) {
    say("nothing to measure: " + reason);
    return HarnessExit::no_device;
  }
  Laboratory laboratory(options.device);
  Measurements measurements = begin_or_resume(options, laboratory);
  const Selection selection = select(wanted_points(options), measurements, laboratory.device(),
                                     Laboratory::libraries(), options.again);
  say_plan(selection, laboratory.device(), options.output);
  stop_soon();
  Surroundings surroundings;
  surroundings.measure = [&](const Point& point) { return laboratory.measure(point); };
  surroundings.save = [&](const Measurements& all) { replace_file(options.output, to_json(all)); };
  surroundings.say = say;
  surroundings.interrupted = &interrupted;
  const Budget budget(options.budget_s, Budget::steady_clock());
  Progress progress(std::cerr, isatty(STDERR_FILENO) != 0, 100);
  return say_ending(
      run_campaign(selection.to_measure, measurements, surroundings, budget, progress),
      options.output);
}

HarnessExit answer(const std::vector<std::string>& arguments) {
  const auto options = parse_options(arguments, std::cout);
  if (!options) return HarnessExit::ok;
  if (!options->list) return measure(*options);
  for (const Point& point : wanted_points(*options)) std::cout << identity(point) << "\n";
  return HarnessExit::ok;
}

}  // namespace
}  // namespace stepsim::calib::cuda

int main(int argc, char** argv) {
  using namespace stepsim;
  using calib::HarnessExit;
  const auto fail = [](HarnessExit code, const std::exception& error) {
    std::cerr << "stepsim-measure-cuda: " << error.what() << "\n";
    return static_cast<int>(code);
  };
  try {
    return static_cast<int>(calib::cuda::answer({argv + 1, argv + argc}));
  } catch (const UserError& error) {
    return fail(HarnessExit::bad_input, error);
  } catch (const IoError& error) {
    return fail(HarnessExit::io, error);
  } catch (const std::exception& error) {
    return fail(HarnessExit::failed, error);
  }
}
