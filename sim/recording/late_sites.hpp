// Which places of a program make its host late: operators and lines behind the GPU's idle time.
#pragma once

#include <cstddef>
#include <vector>

#include "sim/recording/host_context.hpp"
#include "sim/recording/idle_time.hpp"
#include "sim/recording/recording.hpp"

namespace stepsim {

/// Idle time of the GPU in which the thread of the next launch was at one place.
struct LateSite {
  HostPlace place;
  IdleKind kind = IdleKind::late_python;
  std::size_t times = 0;  ///< pieces of idle time
  Nanoseconds idle = 0;
};

/// All places, the most idle time first. A place is that of the middle of a piece of idle time.
std::vector<LateSite> late_sites(const Recording& recording, const IdleTime& idle);

}  // namespace stepsim
