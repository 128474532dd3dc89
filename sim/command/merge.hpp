// stepsim merge: files of the parts of a sweep become one.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "sim/core/error.hpp"

namespace stepsim {

struct MergeOptions {
  std::string into;               ///< file of sweeps, made where it is missing
  std::vector<std::string> from;  ///< files that are united into it
  bool any_build = false;         ///< unites also points that different builds have simulated
};

/// Unites files of sweeps, and says what they have together.
ExitCode merge(const MergeOptions& options, std::ostream& out);

}  // namespace stepsim
