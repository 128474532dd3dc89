// Files of the same sweeps, united: the parts that several machines did.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/store/sweep_store.hpp"

namespace stepsim {

/// What a sweep has now.
struct MergedSweep {
  std::int64_t view = 0;  ///< the number N of `sweep_N`
  SweepRecord record;
  std::int64_t done = 0;   ///< points
  std::int64_t files = 0;  ///< that had points of it
};

/// Adds what `from` have to `into`, which is made where it is missing and may be among them.
/// Returns all that it has then. Throws, and leaves `into` as it was: IoError when a file cannot be
/// used; UserError when one is no file of sweeps, when a sweep was simulated with other profiles,
/// or by different builds unless `any_build` says that it may, and when two files disagree about a
/// point.
std::vector<MergedSweep> merge_sweeps(const std::string& into, const std::vector<std::string>& from,
                                      bool any_build = false);

}  // namespace stepsim
