// Measures points on this CPU, on all ranks at the same time.
#pragma once

#include <string>

#include "calib/cpu/arena.hpp"
#include "calib/cpu/ranks.hpp"
#include "sim/calibrate/measurement/device_facts.hpp"
#include "sim/calibrate/measurement/point_record.hpp"

namespace stepsim::cpu {

/// What a measurement works with: ranks, memory, and a folder.
struct Bench {
  const Ranks& ranks;
  Arena& arena;
  std::string folder;  ///< folder for files that are written and then read
};

Measured measure(const GemmPoint& point, const Bench& bench);
Measured measure(const MemoryOpPoint& point, const Bench& bench);
Measured measure(const CollectivePoint& point, const Bench& bench);
Measured measure(const OverlapPoint& point, const Bench& bench);
Measured measure(const FileReadPoint& point, const Bench& bench);
Measured measure(const DecodePoint& point, const Bench& bench);

/// Measures a point. Throws NotOffered on all ranks, or on none. REQUIRES: called for the same
/// points on all ranks.
Measured measure(const Point& point, const Bench& bench);

}  // namespace stepsim::cpu
