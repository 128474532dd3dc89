// Merges files of the same sweeps: the parts that several machines simulated.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/store/sweep_store.hpp"

namespace stepsim {

/// What a sweep has after a merge.
struct MergedSweep {
  std::int64_t view = 0;  ///< the number N of `sweep_N`
  SweepRecord record;
  std::int64_t done = 0;   ///< points that are done
  std::int64_t files = 0;  ///< files that had points of the sweep
};

/// Adds the sweeps of the files `from` to the file `into`, which is made where it is missing and
/// may be among them. Returns all sweeps that `into` has then. Throws, and leaves `into` as it was:
/// IoError when a file cannot be used; UserError when one is no file of sweeps, when a sweep was
/// simulated with other profiles, when it was simulated by different builds and not `any_build`,
/// and when two files disagree about a point.
std::vector<MergedSweep> merge_sweeps(const std::string& into, const std::vector<std::string>& from,
                                      bool any_build = false);

}  // namespace stepsim
