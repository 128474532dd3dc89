// Collectives among the GPUs of this machine, over the sizes of nccl-tests.
#include "calib/harness/points.hpp"

namespace stepsim::calib {

std::vector<Point> collective_points() {
  std::vector<Point> points;
  for (const CollectiveOp op : kMeasured<CollectiveOp>)
    for (const std::int64_t gpus : {2, 4, 8})
      for (std::int64_t bytes = 4096; bytes <= std::int64_t{1} << 30; bytes *= 2)
        points.push_back(CollectivePoint{op, Precision::bf16, gpus, bytes});
  return points;
}

}  // namespace stepsim::calib
