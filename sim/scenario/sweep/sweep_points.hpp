// The points of a sweep: which there are, and what each sets.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "sim/core/problems.hpp"
#include "sim/scenario/load.hpp"
#include "sim/scenario/sweep/sweep.hpp"

namespace stepsim {

/// A grid of more is refused: at a thousand points a second it would take three hours.
inline constexpr std::int64_t kMostPoints = 10'000'000;

/// How many points the grid has, before conditions; infinity where a double cannot tell.
double grid_size(const std::vector<SweepAxis>& axes);

/// The points that are wanted, in rising order.
class PointList {
 public:
  /// The whole grid, and nothing of it is kept.
  explicit PointList(std::int64_t grid) : count_(grid) {}
  explicit PointList(std::vector<std::int64_t> points)
      : count_(static_cast<std::int64_t>(points.size())), listed_(std::move(points)) {}

  std::int64_t count() const { return count_; }
  std::int64_t operator[](std::int64_t i) const {
    return listed_.empty() ? i : listed_[static_cast<std::size_t>(i)];
  }

 private:
  std::int64_t count_ = 0;
  std::vector<std::int64_t> listed_;
};

/// The points that meet the conditions, or a random part of them. Mistakes of the conditions go to
/// the problems. REQUIRES: grid_size is at most kMostPoints.
PointList points_of(const Sweep& sweep, Problems& problems);

/// What the point sets: path and text.
std::vector<std::pair<std::string, std::string>> settings_of(const std::vector<SweepAxis>& axes,
                                                             std::int64_t point);

/// The scenario of the point. Throws UserError when the checks refuse it.
Scenario scenario_of(const Sweep& sweep, std::int64_t point, const KnownNames& known = {});

}  // namespace stepsim
