// The list of points, which is the same on every machine, and the order in which they are measured.
#pragma once

#include <vector>

#include "sim/calibrate/measurement/point.hpp"

namespace stepsim::calib {

// One file of points/ each. What a GPU lacks (a precision, memory, other GPUs) is left out later,
// by capability.hpp.
std::vector<Point> gemm_points();
std::vector<Point> memory_points();
std::vector<Point> attention_points();
std::vector<Point> launch_points();
std::vector<Point> queue_points();
std::vector<Point> copy_points();
std::vector<Point> overlap_points();
std::vector<Point> collective_points();

/// All of them, in an order whose every beginning is a small version of the whole: each kind, and
/// of GEMMs each precision, is shuffled (always in the same way) and takes its turns in proportion
/// to its size. A measurement that runs out of time has seen some of everything.
std::vector<Point> all_points();

/// The same order for any points.
std::vector<Point> interleave(std::vector<std::vector<Point>> lists);

}  // namespace stepsim::calib
