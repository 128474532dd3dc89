// What is measured on a CPU: a core is a device, a process of MPI on it is a rank.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/calibrate/measurement/point.hpp"

namespace stepsim::cpu {

/// In the order of calib::interleave: every beginning has some of everything. `ranks` share a
/// tensor in collectives; there are none for one rank. What runs beside a product leaves it most of
/// the memory, which has `bytes`.
std::vector<calib::Point> points_for(int ranks, std::int64_t bytes);

}  // namespace stepsim::cpu
