// The points that are measured on a CPU: a core is a device, a process of MPI on it is a rank.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/calibrate/measurement/point.hpp"

namespace stepsim::cpu {

/// The points in the order of calib::interleave: every beginning has some of everything. `ranks`
/// share a tensor in collectives; there are none for one rank. `bytes` is the memory of an arena,
/// most of which a kernel beside a product leaves to the product.
std::vector<Point> points_for(int ranks, std::int64_t bytes);

}  // namespace stepsim::cpu
