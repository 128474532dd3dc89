// Pieces of pictures (SVG) that are readable on light and on dark pages.
#pragma once

#include <array>
#include <cstddef>
#include <string>

#include "sim/text/output.hpp"

namespace stepsim {

/// Okabe and Ito's colours (jfly.uni-koeln.de/color), which the colour-blind can tell apart. Black
/// and yellow are left out, because one of the backgrounds would swallow each.
inline constexpr std::array<const char*, 6> kPlotColours{"#0072b2", "#e69f00", "#009e73",
                                                         "#d55e00", "#cc79a7", "#56b4e9"};

/// The text with the characters that XML reserves escaped.
std::string escaped(const std::string& text);

struct SvgPage {
  double width = 0, height = 0;  ///< pixels
  std::string label;             ///< description for people who cannot see the picture
  std::string styles;            ///< rules of CSS beside those that all pictures share
  std::string dark_styles;       ///< rules that differ on dark pages
};
/// Knows these pictures by their head.
Maker picture_maker();

/// The head of a picture, up to its content; a picture ends with "</svg>\n".
std::string svg_begin(const SvgPage& page);

/// Words at a place. `anchor` is "start", "middle" or "end"; `attributes` stand behind it.
std::string svg_words(double x, double y, const char* anchor, const std::string& text,
                      const std::string& attributes = "");
std::string svg_frame(double x, double y, double width, double height);

struct PlotMark {
  const char* colour;
  const char* outline;  ///< a path (SVG) from the mark's centre on, closed
};

/// How many kinds have a mark of their own: colours times shapes.
inline constexpr std::size_t kPlotMarks = 48;

/// The mark of the i-th kind; they begin again behind the last. The first six differ by colour.
PlotMark plot_mark(std::size_t i);

/// A mark at a place; hollow or not, and what is said of it under the pointer.
std::string svg_mark(double x, double y, const PlotMark& mark, bool is_hollow,
                     const std::string& title = "");

}  // namespace stepsim
