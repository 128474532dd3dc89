// A campaign: the points that are still to be measured, one after the other, until they are done,
// time is up or somebody interrupts.
#pragma once

#include <csignal>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "calib/harness/budget.hpp"
#include "calib/harness/capability.hpp"
#include "calib/harness/not_offered.hpp"
#include "calib/harness/progress.hpp"
#include "sim/calibrate/measurement/measurements.hpp"

namespace stepsim::calib {

/// What a campaign works with; a test brings its own.
struct Surroundings {
  std::function<Measured(const Point&)> measure;  ///< measures a point; throws NotOffered
  std::function<void(const Measurements&)> save;  ///< writes to disk
  std::function<void(const std::string&)> say;    ///< prints a line for the user
  /// not 0: the campaign stops after this point
  const volatile std::sig_atomic_t* interrupted = nullptr;
};

struct Selection {
  std::vector<Point> to_measure;
  std::map<std::string, std::size_t> left_out;  ///< the number of points left out, by reason
  std::size_t already = 0;                      ///< points that the file has already
};

/// The points that the device can do and that `earlier` does not have; with `again`, also points
/// that were skipped there.
Selection select(const std::vector<Point>& points, const Measurements& earlier,
                 const DeviceFacts& device, const Libraries& libraries, bool again);

enum class Ending { complete, out_of_time, interrupted };

/// Measures the points and adds a record to `measurements` for each. Saves every two seconds of the
/// budget's clock and at the end, also when an exception ends it. An implausible result becomes a
/// skipped record.
Ending run_campaign(const std::vector<Point>& to_measure, Measurements& measurements,
                    const Surroundings& surroundings, const Budget& budget, Progress& progress);

}  // namespace stepsim::calib
