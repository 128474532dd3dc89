// What every measuring program does around its device: signals, the file, the budget, the endings.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "calib/harness/options.hpp"
#include "sim/calibrate/measurement/measurements.hpp"

namespace stepsim::calib {

/// A line on standard error, behind the program's name.
void say(const HarnessProgram& program, const std::string& line);

/// What is in the file, or nothing yet. Throws UserError where it is of another device.
Measurements begin_or_resume(const std::string& file, const DeviceFacts& device,
                             const Versions& versions);

/// From now on SIGINT and SIGTERM let the point at hand be finished; a second one ends at once.
void stop_soon();

/// Measures the points, of which the file had `already`, and prints how it ended to standard
/// output: "complete: FILE", "time is up: ..." or, after a signal as above, "interrupted: ...".
HarnessExit measure_points(const HarnessProgram& program, const HarnessOptions& options,
                           const std::vector<Point>& points, std::size_t already,
                           Measurements& measurements,
                           const std::function<Measured(const Point&)>& measure);

/// The exit code of `answer`, or of what it throws, which is said.
int exit_code_of(const HarnessProgram& program, const std::function<HarnessExit()>& answer);

}  // namespace stepsim::calib
