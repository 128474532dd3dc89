// How often something is repeated, and over how many sets of buffers.
#pragma once

#include <cstdint>

namespace stepsim::calib {

/// Sets of buffers to take turns with, so that no tensor is still in the L2 cache when its turn
/// comes again: as many as make eight times the cache (it is not strictly least recently used),
/// up to 256 and to 80 % of the free memory; at least one. `footprint` is that of one set.
int turns_for(std::int64_t footprint, std::int64_t l2_bytes, std::int64_t free_bytes);

struct Repetition {
  int inner = 1;    ///< launches between two events
  int repeats = 5;  ///< pairs of events, each of which gives one sample
};

/// For something that takes `once_s` seconds: samples of at least a millisecond, because events
/// resolve half a microsecond, in which each set of buffers has its turn; and enough samples for
/// 0.15 s, between 5 and 50.
Repetition repetition_for(double once_s, int turns);

}  // namespace stepsim::calib
