// From a sweep's file, or a scenario and `--vary`, to the sweep.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/scenario/load.hpp"
#include "sim/scenario/sweep/sweep.hpp"

namespace stepsim {

struct SweepRequest {
  std::string path;                 ///< path of a scenario, or of a file with `axes`
  std::vector<Override> overrides;  ///< overrides of the scenario
  std::vector<std::string> vary;    ///< "path=values"; replaces an axis of the same keys
  std::vector<std::string> where;   ///< conditions besides those of the file
  std::int64_t random = 0;          ///< 0: as the file says
  std::uint64_t seed = 0;           ///< 0: as the file says
  std::string objective;            ///< empty: as the file says
};

/// Reads and checks it: every value of every axis is one that its key may have. Throws UserError
/// with every mistake, or IoError when a file cannot be read.
Sweep load_sweep(const SweepRequest& request);

/// What tells sweeps apart: a fingerprint of the scenario's text, the axes and the points wanted.
std::string identity_of(const Sweep& sweep);

}  // namespace stepsim
