// Reads back what `stepsim run --trace` wrote.
//
// Beside what Perfetto shows the file holds what a timeline needs: times in whole nanoseconds; the
// blocker of a slice as its place relative to the slice's own, in the order of the file within its
// rank (0: none; absent: the slice before on the same row); `wait`, the cause of waiting, and
// `cause`, where they are not those of the row's first slice, which the row's thread states;
// messages, operations, contention, parts of several kernels by their causes. docs/recordings.md
// has all of it.
#pragma once

#include <string>

#include "sim/recording/simulated/simulated_trace.hpp"

namespace stepsim {

/// Whether the file is a trace of stepsim, of any version; looks at its first bytes, unpacked.
/// False for what is no regular file. Throws IoError where it cannot be read.
bool is_simulated(const std::string& path);

/// Rebuilds the timeline. Throws UserError, in one sentence that says why, for a trace of an older
/// or newer format and for one that is cut or damaged; IoError where it cannot be read.
SimulatedTrace read_simulated(const std::string& path);

}  // namespace stepsim
