// A sweep: one scenario, the axes along which it varies, and which points of that grid are wanted;
// and the file that says so.
//
// A point is a number: that of its place in the grid, the last axis moving fastest.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/scenario/load.hpp"
#include "sim/scenario/read/tree.hpp"
#include "sim/scenario/suite/suite.hpp"
#include "sim/scenario/sweep/axis.hpp"

namespace stepsim {

/// Points of the grid that are drawn without order.
struct RandomPoints {
  std::int64_t points = 0;
  std::uint64_t seed = 1;
};

struct Sweep {
  std::string name;  ///< the scenario's
  Tree scenario;     ///< the base, a map, overrides applied
  Library library;   ///< in which every point finds what it names
  std::vector<SweepAxis> axes;
  std::vector<Phrase> where;  ///< conditions that a point has to meet
  std::optional<RandomPoints> random;
  std::string objective = "step_time";
};

/// What a sweep's file says, before its parts are understood.
struct SweepFile {
  Tree scenario;  ///< a map, or a path
  Tree axes;      ///< a map from paths to values
  std::vector<std::string> where;
  std::optional<RandomPoints> random;
  std::string objective = "step_time";
};

/// Whether a file is meant as a sweep. No scenario has one of these keys.
inline bool is_sweep(const Tree& file) {
  return file.find("axes") != nullptr || (file.find("scenario") != nullptr && !file.find("model"));
}

}  // namespace stepsim
