// The command line of a harness.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "sim/calibrate/measurement/point.hpp"

namespace stepsim::calib {

/// Exit codes; 2, 4 and 70 mean what stepsim's do.
enum class HarnessExit : int {
  ok = 0,
  no_device = 3,  ///< no GPU or no driver: nothing could be measured
  bad_input = 2,
  io = 4,
  failed = 70,  ///< CUDA or a library failed in a way that ends the process
  interrupted = 130,
};

struct HarnessOptions {
  std::vector<PointKind> only;  ///< kinds to measure; empty: all
  std::optional<double> budget_s;
  int device = 0;
  std::string output = "measurements.json";
  bool list = false;
  bool again = false;  ///< measure skipped points again
  std::string folder;  ///< folder for files that are read; empty: the system's for temporary files
  /// bytes that operands take turns in; absent: beyond the caches
  std::optional<std::int64_t> working_set;

  bool wants(const Point& point) const;
};

/// A measuring program, as its help describes it.
struct HarnessProgram {
  std::string name = "stepsim-measure-cuda";
  std::string device = "GPU";                  ///< the device that it measures
  std::string absent = "no GPU or no driver";  ///< what exit code 3 is about; "": there is none
  std::string failed = "CUDA";                 ///< what exit code 70 is about
  std::string example = "--only gemm,memory --budget 10min -o my-h100.json";
  bool numbered = true;  ///< true: there are several devices, and --device names one
};

/// Parses the command line. Absent when it asked for help or a version, which is then printed to
/// `out`. Throws UserError.
std::optional<HarnessOptions> parse_options(const std::vector<std::string>& arguments,
                                            std::ostream& out, const HarnessProgram& program = {});

}  // namespace stepsim::calib
