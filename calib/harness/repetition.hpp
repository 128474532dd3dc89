// How often something is repeated, and over how many sets of buffers.
#pragma once

#include <cstdint>

namespace stepsim::calib {

/// The sets of buffers to take turns with, so that no tensor is still in the L2 cache when its turn
/// comes again: as many as make eight times the cache (it does not strictly replace the oldest
/// first), up to 256 and to 80 % of the free memory; at least one. `footprint` is the bytes of one
/// set.
int turns_for(std::int64_t footprint, std::int64_t l2_bytes, std::int64_t free_bytes);

struct Repetition {
  int inner = 1;    ///< launches between two events
  int repeats = 5;  ///< pairs of events, each of which gives one sample
};

/// The repetition for something that takes `once_s` seconds. A sample lasts a millisecond at least,
/// because events resolve half a microsecond, and each set of buffers has its turn in it. There are
/// enough samples for 0.15 s, between 5 and 50.
Repetition repetition_for(double once_s, int turns);

}  // namespace stepsim::calib
