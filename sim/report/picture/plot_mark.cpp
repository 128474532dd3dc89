// Draws shapes in pixels around a point.
#include "sim/report/picture/plot_mark.hpp"

#include <array>

#include <fmt/format.h>

#include "sim/report/picture/svg.hpp"

namespace stepsim {
namespace {

/// The outlines of marks. Each has about the area of a circle of 3.5 pixels and is closed, so that
/// it can be hollow.
constexpr std::array kOutlines{
    "m-3.5 0a3.5 3.5 0 1 0 7 0a3.5 3.5 0 1 0-7 0z",                            // circle
    "m-3.2-3.2h6.4v6.4h-6.4z",                                                 // square
    "m0-4.6l4.3 7.6h-8.6z",                                                    // triangle upwards
    "m0-4.8l4 4.8l-4 4.8l-4-4.8z",                                             // diamond
    "m0 4.6l4.3-7.6h-8.6z",                                                    // triangle downwards
    "m-1.5-4.4h3v2.9h2.9v3h-2.9v2.9h-3v-2.9h-2.9v-3h2.9z",                     // plus
    "m-3.6-4.4l3.6 3l3.6-3v8.8l-3.6-3l-3.6 3z",                                // bow
    "m0-5.2l1.4 3.6h3.8l-3 2.4l1.2 3.8l-3.4-2.3l-3.4 2.3l1.2-3.8l-3-2.4h3.8z"  // star
};
static_assert(kOutlines.size() * kPlotColours.size() == kPlotMarks);

}  // namespace

PlotMark plot_mark(std::size_t i) {
  return {kPlotColours[i % kPlotColours.size()],
          kOutlines[i / kPlotColours.size() % kOutlines.size()]};
}

std::string svg_mark(double x, double y, const PlotMark& mark, bool is_hollow,
                     const std::string& title) {
  const std::string said =
      title.empty() ? "/>" : fmt::format("><title>{}</title></path>", escaped(title));
  return fmt::format(
      "<path class=\"mark\" d=\"M{:.1f} {:.1f}{}\" fill=\"{}\" fill-opacity=\"{}\" "
      "stroke=\"{}\"{}\n",
      x, y, mark.outline, mark.colour, is_hollow ? "0" : "0.7", mark.colour, said);
}

}  // namespace stepsim
