// Parts of a sweep's picture: a line, bars or a map, each in a box of the page.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "sim/report/sweep.hpp"

namespace stepsim {

/// A rectangle of the page, in pixels.
struct PlotBox {
  double x = 0, y = 0, width = 0, height = 0;
};

/// A part of the page: what is drawn, where it ends, and what has to be said about it.
struct PlotPart {
  std::string svg;
  double bottom = 0;
  std::vector<std::string> notes;  ///< sentences for below the part
};

/// The unit in which values of the objective are written in a row: "22.5", and " ms".
struct ResultUnit {
  double size = 1;
  int decimals = 0;
  std::string name;        ///< "ms", "%", "$", "k"; empty: nothing follows the number
  bool is_prefix = false;  ///< true: the unit stands before the objective's title: "k tokens/s"
  std::string number(double value) const;
};
ResultUnit result_unit(const Objective& objective, double largest);
/// A title with its unit: "step time, ms", "k tokens/s".
std::string title_with(const Objective& objective, const ResultUnit& unit);
/// A round value with its unit: "20 ms".
std::string tick_text(const ResultUnit& unit, double value);

/// The objective's value in the unit of pictures; absent without numbers, or where it is not above
/// 0.
std::optional<double> result_of(const Objective& objective, const Outcome& outcome);
bool is_ok(const Objective& objective, const Outcome& outcome);

/// What a point came to: "22.5 ms, +3.1 %", "refused: tensor 3 does not divide 32 heads".
std::string result_words(const SweepAnswer& answer, const Outcome& outcome);

/// How many outcomes have no value, by state: "12 refused, 3 failed".
std::string count_of_failures(const Objective& objective,
                              const std::vector<const Outcome*>& outcomes);

/// Whether the values of an axis are numbers. Linked keys are not: 8:2 and 8:4 are two values, and
/// neither is the larger.
bool holds_numbers(const SweepAxis& axis);
/// The objective of the best point. REQUIRES: there is one.
double best_result(const SweepAnswer& answer);

/// The keys of an axis, or only their last words where they take more than `width` pixels.
std::string axis_name(const SweepAnswer& answer, std::size_t axis, double width);

/// The values of a slice's points; points without a value are left out.
std::vector<double> results_along(const SweepAnswer& answer, std::size_t axis);

/// Draws one axis through the best point: a line over numbers, bars over words. `box` is all that
/// the part may take; bars end where they end. `results` are the values that the axis of results
/// has to show, at least those of this slice.
PlotPart line_plot(const SweepAnswer& answer, std::size_t axis, const PlotBox& box,
                   const std::vector<double>& results);
PlotPart bar_plot(const SweepAnswer& answer, std::size_t axis, const PlotBox& box);
/// Draws the grid of two axes, by how much worse each point is than the best.
PlotPart map_plot(const SweepAnswer& answer, const PlotBox& box);

/// The CSS rules of all parts.
extern const char* const kSweepStyles;
extern const char* const kSweepDarkStyles;

}  // namespace stepsim
