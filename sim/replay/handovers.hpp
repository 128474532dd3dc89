// Where one thread of the host goes on because another one has come to an end: PyTorch's backward
// pass runs in a thread of its own while the main thread waits, and neither says so.
//
// A thread is silent where none of its operators or calls begins or ends for some time, and it is
// in no call. Where a thread ends a silence, and another thread fell silent within it and still is,
// the other one has handed over to it. That thread's own end of the silence is found alike.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/recording/recording.hpp"

namespace stepsim {

/// Shorter pauses of a thread are Python's between operators: 4 to 24 us for each launch in 12
/// public recordings of 2020 to 2025.
inline constexpr Nanoseconds kShortestPause = 50'000;

/// Thread `to` has waited from `waited`; `from` handed over at `given`. Times are since the start
/// of the window.
struct Handover {
  std::uint32_t from = 0, to = 0;
  Nanoseconds waited = 0, given = 0;
};

/// The handovers among those threads within the window, in order of their time.
std::vector<Handover> handovers(const Recording& recording,
                                const std::vector<std::uint32_t>& threads, Interval window);

}  // namespace stepsim
