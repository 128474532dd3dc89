// The list of points, which is the same on every machine, and the order in which they are measured.
#pragma once

#include <vector>

#include "sim/calibrate/measurement/point.hpp"

namespace stepsim::calib {

// Each list has a file in points/. capability.hpp later leaves out points for which a GPU lacks
// something: a precision, memory, other GPUs.
std::vector<Point> gemm_points();
std::vector<Point> memory_points();
std::vector<Point> attention_points();
std::vector<Point> launch_points();
std::vector<Point> queue_points();
std::vector<Point> copy_points();
std::vector<Point> overlap_points();
std::vector<Point> collective_points();

/// All points, in an order whose every beginning is a small version of the whole: each kind, and
/// each precision of GEMMs, is shuffled (always in the same way) and takes its turns in proportion
/// to its size. A measurement that runs out of time has seen some of everything.
std::vector<Point> all_points();

/// The points of several lists in the order of all_points: every beginning is a small version of
/// the whole.
std::vector<Point> interleave(std::vector<std::vector<Point>> lists);

}  // namespace stepsim::calib
