// Pieces of pictures (SVG) that are readable on light and dark pages.
#pragma once

#include <array>
#include <string>

namespace stepsim {

/// Okabe and Ito's colours (jfly.uni-koeln.de/color), which the colour-blind tell apart, without
/// black and yellow, which one of the backgrounds swallows.
inline constexpr std::array<const char*, 6> kPlotColours{"#0072b2", "#e69f00", "#009e73",
                                                         "#d55e00", "#cc79a7", "#56b4e9"};

/// The text as XML wants it.
std::string escaped(const std::string& text);

struct SvgPage {
  double width = 0, height = 0;  ///< pixels
  std::string label;             ///< for those who cannot see it
  std::string styles;            ///< rules of CSS beside those that all pictures share
  std::string dark_styles;       ///< those that differ on dark pages
};
/// Up to its content; ends with "</svg>\n".
std::string svg_begin(const SvgPage& page);

/// Words at a place; `anchor` is "start", "middle" or "end", `attributes` stand behind it.
std::string svg_words(double x, double y, const char* anchor, const std::string& text,
                      const std::string& attributes = "");
std::string svg_frame(double x, double y, double width, double height);

}  // namespace stepsim
