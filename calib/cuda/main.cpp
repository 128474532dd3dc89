// The program: options, a GPU, the points that are still missing, and a file of measurements.
#include <iostream>

#include <fmt/format.h>

#include "calib/cuda/device.hpp"
#include "calib/cuda/laboratory.hpp"
#include "calib/harness/campaign.hpp"
#include "calib/harness/points.hpp"
#include "calib/harness/program.hpp"

namespace stepsim::calib::cuda {
namespace {

const HarnessProgram kProgram;

std::vector<Point> wanted_points(const HarnessOptions& options) {
  std::vector<Point> points;
  for (const Point& point : all_points())
    if (options.wants(point)) points.push_back(point);
  return points;
}

void say_plan(const Selection& selection, const DeviceFacts& device, const std::string& file) {
  say(kProgram, fmt::format("{}: {} points to measure, {} already in {}", device.name,
                            selection.to_measure.size(), selection.already, file));
  for (const auto& [reason, count] : selection.left_out)
    say(kProgram, fmt::format("{} points left out: {}", count, reason));
}

HarnessExit measure(const HarnessOptions& options) {
  if (const std::string reason = why_no_device(options.device); !reason.empty()) {
    say(kProgram, "nothing to measure: " + reason);
    return HarnessExit::no_device;
  }
  Laboratory laboratory(options.device);
  Measurements measurements =
      begin_or_resume(options.output, laboratory.device(), laboratory.versions());
  const Selection selection = select(wanted_points(options), measurements, laboratory.device(),
                                     Laboratory::libraries(), options.again);
  say_plan(selection, laboratory.device(), options.output);
  return measure_points(kProgram, options, selection.to_measure, selection.already, measurements,
                        [&](const Point& point) { return laboratory.measure(point); });
}

HarnessExit answer(const std::vector<std::string>& arguments) {
  const auto options = parse_options(arguments, std::cout, kProgram);
  if (!options) return HarnessExit::ok;
  if (!options->list) return measure(*options);
  for (const Point& point : wanted_points(*options)) std::cout << identity(point) << "\n";
  return HarnessExit::ok;
}

}  // namespace
}  // namespace stepsim::calib::cuda

int main(int argc, char** argv) {
  using namespace stepsim::calib;
  return exit_code_of(cuda::kProgram, [&] { return cuda::answer({argv + 1, argv + argc}); });
}
