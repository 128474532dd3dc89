// How many tasks a plan may have: what no machine can hold is better said than met.
#pragma once

namespace stepsim {

/// The most tasks of all programs together: some 5 GB, and with their spans 10 GB. One program by
/// itself, which is counted before it is written, may have as many.
inline constexpr double kMostTasks = 5e7;

}  // namespace stepsim
