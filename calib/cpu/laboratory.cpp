// Calls the function that measures a kind of point.
#include "calib/cpu/laboratory.hpp"

#include "calib/harness/not_offered.hpp"

namespace stepsim::cpu {
namespace {

struct Dispatch {
  const Bench& bench;
  template <class Point>
  Measured operator()(const Point& point) const {
    if constexpr (std::is_same_v<Point, AttentionPoint> ||
                  std::is_same_v<Point, ConvolutionPoint> || std::is_same_v<Point, LaunchPoint> ||
                  std::is_same_v<Point, QueuePoint> || std::is_same_v<Point, CopyPoint>) {
      throw calib::NotOffered("a CPU has no such thing");
    } else {
      return measure(point, bench);
    }
  }
};

}  // namespace

Measured measure(const Point& point, const Bench& bench) {
  return std::visit(Dispatch{bench}, point);
}

}  // namespace stepsim::cpu
