// What every measuring program does around its device: signals, the file, the budget, the endings.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "calib/harness/options.hpp"
#include "sim/calibrate/measurement/measurements.hpp"

namespace stepsim::calib {

/// Prints a line on standard error, behind the program's name.
void say(const HarnessProgram& program, const std::string& line);

/// The measurements in the file, or new ones where there is none. Throws UserError where the file
/// is of another device.
Measurements begin_or_resume(const std::string& file, const DeviceFacts& device,
                             const Versions& versions);

/// Makes SIGINT and SIGTERM from now on let the point at hand be finished; a second signal ends the
/// program at once.
void stop_soon();

/// Measures the points, where the file has `already` so many, and prints to standard output how it
/// ended: "complete: FILE", "time is up: ..." or, after a signal (see stop_soon), "interrupted:
/// ...".
HarnessExit measure_points(const HarnessProgram& program, const HarnessOptions& options,
                           const std::vector<Point>& points, std::size_t already,
                           Measurements& measurements,
                           const std::function<Measured(const Point&)>& measure);

/// The exit code of `answer`, or of an exception that it throws, which is printed.
int exit_code_of(const HarnessProgram& program, const std::function<HarnessExit()>& answer);

}  // namespace stepsim::calib
