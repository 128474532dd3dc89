// Joins the lists of points into the order in which they are measured.
#include "calib/harness/points.hpp"

#include <algorithm>
#include <string>
#include <tuple>
#include <utility>

#include "sim/core/hash.hpp"

namespace stepsim::calib {
namespace {

void shuffle(std::vector<Point>& points) {
  std::vector<std::pair<std::string, Point>> drawn;
  for (const Point& point : points) drawn.emplace_back(fnv1a_hex(identity(point)), point);
  std::sort(drawn.begin(), drawn.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  for (std::size_t i = 0; i < points.size(); ++i) points[i] = drawn[i].second;
}

std::vector<std::vector<Point>> gemms_by_dtype() {
  std::vector<std::vector<Point>> lists(kMeasured<Precision>.size());
  for (const Point& point : gemm_points())
    lists[MeasuredOrder::place_of(std::get<GemmPoint>(point).dtype)].push_back(point);
  return lists;
}

}  // namespace

std::vector<Point> interleave(std::vector<std::vector<Point>> lists) {
  struct Turn {
    double place;  ///< how far the list of the point has come, in [0, 1)
    std::size_t list, index;
  };
  std::vector<Turn> turns;
  for (std::size_t list = 0; list < lists.size(); ++list) {
    shuffle(lists[list]);
    const double size = static_cast<double>(lists[list].size());
    for (std::size_t i = 0; i < lists[list].size(); ++i)
      turns.push_back({static_cast<double>(i) / size, list, i});
  }
  std::sort(turns.begin(), turns.end(), [](const Turn& a, const Turn& b) {
    return std::tie(a.place, a.list, a.index) < std::tie(b.place, b.list, b.index);
  });
  std::vector<Point> points;
  for (const Turn& turn : turns) points.push_back(lists[turn.list][turn.index]);
  return points;
}

std::vector<Point> all_points() {
  std::vector<std::vector<Point>> lists = gemms_by_dtype();
  for (const auto& list : {memory_points(), attention_points(), launch_points(), queue_points(),
                           copy_points(), overlap_points(), collective_points()})
    lists.push_back(list);
  return interleave(std::move(lists));
}

}  // namespace stepsim::calib
