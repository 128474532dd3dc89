// What a sweep's file says, before its parts are understood.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/scenario/sweep/sweep.hpp"

namespace stepsim {

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
