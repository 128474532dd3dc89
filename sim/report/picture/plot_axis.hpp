// Axes of pictures: where a value stands, and which values are written beside it.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace stepsim {

/// A map from values to pixels, in proportion or by logarithms.
struct PlotScale {
  double low = 0, high = 1;   ///< the least and the largest value
  double begin = 0, end = 1;  ///< where these two values stand, in pixels
  bool is_log = false;        ///< true: by logarithms; REQUIRES: low > 0

  double at(double value) const;
};

/// The scale for values that rise: logarithmic where they are above 0 and span more than a factor
/// of 20, or where each is the same multiple of the one before. REQUIRES: one value at least.
PlotScale scale_along(const std::vector<double>& values, double begin, double end);

/// The scale for results, with room for a label at the best. It begins at 0 where the least value
/// is small beside the most, and is logarithmic where it is very small. It ends at multiples of 1,
/// 2 or 5 of `unit`, unless it is logarithmic. REQUIRES: one value at least, all above 0.
PlotScale scale_of_results(const std::vector<double>& values, double unit, bool is_less_better,
                           double begin, double end);

/// The round values on a scale, in steps of 1, 2 or 5 times a power of ten of `unit`; on a
/// logarithmic one 1, 2 and 5 of each decade, or 1 alone.
std::vector<double> round_values(const PlotScale& scale, double unit);

/// The pixels that a text takes at most, in letters of 13 pixels.
double text_width(const std::string& text);

/// A text of at most `most` characters; a longer one is cut and ends in "...".
std::string shortened(const std::string& text, std::size_t most);

struct PlotLabel {
  double at = 0;     ///< centre of the label in pixels
  double width = 0;  ///< size of the label along the axis, in pixels
  std::string text;
};
/// The places of the labels that stand apart from each other, in rising order: all, or every
/// second, third, tenth ... of equally spaced ones, or else round numbers before others.
std::vector<std::size_t> readable(const std::vector<PlotLabel>& labels);

}  // namespace stepsim
