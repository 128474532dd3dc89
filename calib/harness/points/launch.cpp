// Points that measure what a kernel costs before it does anything.
#include "calib/harness/points.hpp"

namespace stepsim::calib {

std::vector<Point> launch_points() {
  return {LaunchPoint{LaunchCost::stream}, LaunchPoint{LaunchCost::graph},
          LaunchPoint{LaunchCost::host}, LaunchPoint{LaunchCost::round_trip}};
}

std::vector<Point> queue_points() { return {QueuePoint{}}; }

}  // namespace stepsim::calib
