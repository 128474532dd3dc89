// A record: a point and what was measured there, or why nothing was.
#pragma once

#include <optional>
#include <string>

#include "sim/calibrate/measurement/point.hpp"
#include "sim/calibrate/measurement/timing.hpp"

namespace stepsim {

/// What a harness reports about one point.
struct Measured {
  Timing timing;                         ///< all zero for a queue
  std::optional<double> alone_seconds;   ///< overlap: what is timed, with nothing beside it
  std::optional<std::int64_t> products;  ///< overlap: how many ran beside one of the other
  std::optional<std::int64_t> launches;  ///< queue: how many fit
  std::optional<double> sm_clock_hz;     ///< right after the last repeat
  std::optional<double> power_w;         ///< power of the GPU, as its driver averages it
  bool with_launch = false;  ///< memory: one at a time on an idle GPU, the host's launch included
};

struct PointRecord {
  Point point;
  Measured measured;
  std::string skipped;  ///< not empty: a sentence why there is no measurement
};

}  // namespace stepsim
