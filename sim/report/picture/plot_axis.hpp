// Axes of pictures: where a value stands, and which values are written beside it.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace stepsim {

/// From values to pixels, in proportion or by logarithms.
struct PlotScale {
  double low = 0, high = 1;   ///< values
  double begin = 0, end = 1;  ///< where they stand, in pixels
  bool is_log = false;        ///< REQUIRES: low > 0

  double at(double value) const;
};

/// For values that rise: logarithmic where they are above 0 and span more than a factor of 20, or
/// each is the same multiple of the one before. REQUIRES: one value at least.
PlotScale scale_along(const std::vector<double>& values, double begin, double end);

/// For what was found, with room for a label at the best: it begins at 0 where the least is small
/// beside the most, and is logarithmic where it is very small. Ends at multiples of 1, 2 or 5 of
/// `unit`, but for logarithms. REQUIRES: one value at least, all above 0.
PlotScale scale_of_results(const std::vector<double>& values, double unit, bool is_less_better,
                           double begin, double end);

/// Round values on the scale, in steps of 1, 2 or 5 times a power of ten of `unit`; of logarithmic
/// ones 1, 2 and 5 of each decade, or 1 alone.
std::vector<double> round_values(const PlotScale& scale, double unit);

/// Pixels that such text takes at most, in letters of 13 pixels.
double text_width(const std::string& text);

/// A text of at most so many characters; a longer one ends in "...".
std::string shortened(const std::string& text, std::size_t most);

struct PlotLabel {
  double at = 0;     ///< its centre in pixels
  double width = 0;  ///< its size along the axis
  std::string text;
};
/// The places of those labels, in rising order, that stand apart from each other: all, or every
/// second, third, tenth ... of equally spaced ones, or else round numbers before others.
std::vector<std::size_t> readable(const std::vector<PlotLabel>& labels);

}  // namespace stepsim
