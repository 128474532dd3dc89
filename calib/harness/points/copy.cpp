// Copies between host and GPU, from latency to bandwidth.
#include "calib/harness/points.hpp"

namespace stepsim::calib {

std::vector<Point> copy_points() {
  std::vector<Point> points;
  for (const HostMemory host : {HostMemory::pinned, HostMemory::pageable})
    for (const Direction direction : {Direction::h2d, Direction::d2h, Direction::both}) {
      // The host takes part in a copy of pageable memory, so that it cannot make two at once.
      if (host == HostMemory::pageable && direction == Direction::both) continue;
      for (std::int64_t bytes = 4096; bytes <= std::int64_t{1} << 30; bytes *= 4)
        points.push_back(CopyPoint{direction, host, bytes});
    }
  return points;
}

}  // namespace stepsim::calib
