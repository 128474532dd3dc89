// GEMMs beside copies and collectives, and the other way round.
#include "calib/harness/points.hpp"

namespace stepsim::calib {

std::vector<Point> overlap_points() {
  constexpr std::int64_t kBytes = std::int64_t{64} << 20;
  std::vector<Point> points;
  for (const std::int64_t size : {2048, 8192})  // products of one wave or two, and of many
    for (const Activity other :
         {Activity::h2d, Activity::d2h, Activity::d2d, Activity::all_reduce}) {
      for (const std::int64_t gpus : {1, 2, 4, 8}) {
        if ((other == Activity::all_reduce) != (gpus > 1)) continue;
        points.push_back(
            OverlapPoint{Activity::gemm, other, Precision::bf16, size, size, size, kBytes, gpus});
        points.push_back(
            OverlapPoint{other, Activity::gemm, Precision::bf16, size, size, size, kBytes, gpus});
      }
    }
  return points;
}

}  // namespace stepsim::calib
