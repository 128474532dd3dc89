// Marks of points in a picture (SVG): many kinds that are told apart by colour and shape.
#pragma once

#include <cstddef>
#include <string>

namespace stepsim {

struct PlotMark {
  const char* colour;
  const char* outline;  ///< a closed path (SVG) from the centre of the mark on
};

/// The number of kinds that have a mark of their own: colours times shapes.
inline constexpr std::size_t kPlotMarks = 48;

/// The mark of the i-th kind; marks begin again behind the last. The first six differ by colour
/// alone.
PlotMark plot_mark(std::size_t i);

/// A mark at a place, hollow or not; `title` is shown under the pointer.
std::string svg_mark(double x, double y, const PlotMark& mark, bool is_hollow,
                     const std::string& title = "");

}  // namespace stepsim
