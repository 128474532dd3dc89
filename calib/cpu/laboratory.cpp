// Calls the function that measures a kind of point.
#include "calib/cpu/laboratory.hpp"

#include "calib/harness/not_offered.hpp"

namespace stepsim::cpu {
namespace {

struct Dispatch {
  const Bench& bench;
  template <class Point>
  calib::Measured operator()(const Point& point) const {
    if constexpr (std::is_same_v<Point, calib::AttentionPoint> ||
                  std::is_same_v<Point, calib::ConvolutionPoint> ||
                  std::is_same_v<Point, calib::LaunchPoint> ||
                  std::is_same_v<Point, calib::QueuePoint> ||
                  std::is_same_v<Point, calib::CopyPoint>) {
      throw calib::NotOffered("a CPU has no such thing");
    } else {
      return measure(point, bench);
    }
  }
};

}  // namespace

calib::Measured measure(const calib::Point& point, const Bench& bench) {
  return std::visit(Dispatch{bench}, point);
}

}  // namespace stepsim::cpu
