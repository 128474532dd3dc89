// A sweep: its axes, its conditions and the first scenarios of its points.
#include <algorithm>

#include "sim/core/problems.hpp"
#include "sim/plan/load.hpp"
#include "sim/scenario/sweep/load_sweep.hpp"
#include "sim/scenario/sweep/sweep_points.hpp"
#include "tests/fuzz/fuzz.hpp"

namespace stepsim {

void read_text(const std::string& text) {
  constexpr double kLargestGrid = 10'000;
  constexpr std::int64_t kPoints = 3;
  const Sweep sweep = load_sweep({.path = file_of("sweep.yaml", text)});
  if (grid_size(sweep.axes) > kLargestGrid) return;
  Problems problems;
  const PointList points = points_of(sweep, problems);
  problems.throw_if_any();
  for (std::int64_t i = 0; i < std::min(kPoints, points.count()); ++i)
    scenario_of(sweep, points[i], known_names());
}

}  // namespace stepsim
