// Parts of a sweep's picture: a line, bars or a map, each in a box of the page.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "sim/report/sweep.hpp"

namespace stepsim {

/// Of the page, in pixels.
struct PlotBox {
  double x = 0, y = 0, width = 0, height = 0;
};

/// A part of the page: what is drawn, where it ends, and what has to be said of it.
struct PlotPart {
  std::string svg;
  double bottom = 0;
  std::vector<std::string> notes;  ///< sentences for below it
};

/// How values of the objective are written in a row: "22.5", and " ms".
struct ResultUnit {
  double size = 1;
  int decimals = 0;
  std::string name;        ///< "ms", "%", "$", "k"; empty: nothing follows the number
  bool is_prefix = false;  ///< of what the objective's title names: "k" of "tokens/s"
  std::string number(double value) const;
};
ResultUnit result_unit(const Objective& objective, double largest);
/// "step time, ms", "k tokens/s".
std::string title_with(const Objective& objective, const ResultUnit& unit);
/// "20 ms": a round value.
std::string tick_text(const ResultUnit& unit, double value);

/// Nothing without numbers, or where the objective is not above 0.
std::optional<double> result_of(const Objective& objective, const Outcome& outcome);
bool is_ok(const Objective& objective, const Outcome& outcome);

/// "22.5 ms, +3.1 %", "refused: tensor 3 does not divide 32 heads": what a point came to.
std::string result_words(const SweepAnswer& answer, const Outcome& outcome);

/// "12 refused, 3 failed": of those without a value.
std::string count_of_failures(const Objective& objective,
                              const std::vector<const Outcome*>& outcomes);

/// Linked keys do not: 8:2 and 8:4 are two values, and neither is the larger.
bool holds_numbers(const SweepAxis& axis);
/// The objective of the best point. REQUIRES: there is one.
double best_result(const SweepAnswer& answer);

/// Its keys, or only their last words where they take more than so many pixels.
std::string axis_name(const SweepAnswer& answer, std::size_t axis, double width);

/// What the points of a slice came to, those without a value left out.
std::vector<double> results_along(const SweepAnswer& answer, std::size_t axis);

/// What is drawn along one axis, through the best point: a line over numbers, bars over words.
/// `box` is all that it may take; bars end where they end. `results`: what the axis of results has
/// to show, at least those of this slice.
PlotPart line_plot(const SweepAnswer& answer, std::size_t axis, const PlotBox& box,
                   const std::vector<double>& results);
PlotPart bar_plot(const SweepAnswer& answer, std::size_t axis, const PlotBox& box);
/// The grid of two axes by how much worse each point is than the best.
PlotPart map_plot(const SweepAnswer& answer, const PlotBox& box);

/// Rules of CSS for all of them.
extern const char* const kSweepStyles;
extern const char* const kSweepDarkStyles;

}  // namespace stepsim
