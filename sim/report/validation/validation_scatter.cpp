// Draws predicted over measured step times: SVG that is readable on light and dark pages.
#include <algorithm>
#include <cmath>
#include <map>

#include "sim/report/picture/svg.hpp"
#include "sim/report/validation.hpp"
#include "sim/report/validation/validation_words.hpp"

namespace stepsim {
namespace {

constexpr double kHeight = 620;
constexpr double kLeft = 70, kTop = 40, kSide = 500;  // pixels of the square that holds the points
constexpr double kLegend = kLeft + kSide + 18;        // x of the marks in the legend's first column
constexpr std::size_t kLegendRows = 25;  // rows of the legend, which stands beside the square
constexpr double kRow = 20;
// Pixels of a sans-serif letter of size 13, wide ones among them, for a legend's words are short.
constexpr double kLetter = 7.5;

/// The decades of seconds that both axes show.
struct Axes {
  double low = 0, high = 1;  ///< logarithms of the ends

  double along(double seconds) const { return (std::log10(seconds) - low) / (high - low) * kSide; }
  /// Whether words at 1, 2 and 5 of each decade have room; "200 ms" is 50 pixels wide.
  bool has_room_within_decades() const { return std::log10(2) / (high - low) * kSide >= 50; }
  double x(double seconds) const { return kLeft + along(seconds); }
  double y(double seconds) const { return kTop + kSide - along(seconds); }
};

Axes axes_of(const std::vector<ValidationRow>& rows) {
  double least = 1e300, most = 0;
  for (const ValidationRow& row : rows) {
    if (!row.predicted) continue;
    for (const Seconds time : {*row.measured, row.predicted->step}) {
      least = std::min(least, time.seconds());
      most = std::max(most, time.seconds());
    }
  }
  if (most <= 0) return {-1, 1};
  const double margin = 0.08 * std::max(std::log10(most / least), 1.0);
  return {std::log10(least) - margin, std::log10(most) + margin};
}

/// What marks tell apart: suites, or the values of the first group of a lone suite.
std::string family_of(const ValidationRow& row, bool many) {
  return many || row.groups.empty() ? row.suite : row.groups.front().second;
}

/// Words in columns beside the square, as many columns as they need.
struct Legend {
  std::vector<std::string> words;

  std::size_t columns() const { return (words.size() + kLegendRows - 1) / kLegendRows; }
  std::size_t rows() const { return (words.size() + columns() - 1) / columns(); }
  double column_width() const {
    int letters = 0;
    for (const std::string& one : words) letters = std::max(letters, width_of(one));
    return kLetter * letters + 30;
  }
  /// The place of the mark before the i-th of the words.
  double x(std::size_t i) const {
    const std::size_t column = i / rows();
    return kLegend + column_width() * static_cast<double>(column);
  }
  double y(std::size_t i) const { return kTop + 8 + kRow * static_cast<double>(i % rows()); }
  /// Where the legend ends.
  double right() const { return kLegend + column_width() * static_cast<double>(columns()); }
};

constexpr const char* kHollow = "hollow: known";

class Picture {
 public:
  explicit Picture(const Validation& validation)
      : rows_(validation.rows), many_(validation.suites.size() > 1), axes_(axes_of(rows_)) {
    for (const ValidationRow& row : rows_) {
      const std::string family = family_of(row, many_);
      if (std::ranges::find(families_, family) == families_.end()) families_.push_back(family);
    }
    legend_.words = families_;
    const auto is_known = [](const ValidationRow& row) { return !row.known.empty(); };
    if (std::ranges::any_of(rows_, is_known)) legend_.words.emplace_back(kHollow);
  }

  std::string svg() {
    text_ = svg_begin({.width = std::ceil(legend_.right()),
                       .height = kHeight,
                       .label = "predicted over measured step times",
                       .styles = ".even { stroke: #555; stroke-width: 1.2 }\n"
                                 ".ten { stroke: #888; stroke-dasharray: 5 4 }\n",
                       .dark_styles = ".even { stroke: #bbb }"});
    grid();
    line(1, "even");
    line(1.1, "ten");
    line(0.9, "ten");
    points();
    legend();
    return text_ + "</svg>\n";
  }

 private:
  void words(double x, double y, const char* anchor, const std::string& text) {
    text_ += svg_words(x, y, anchor, text);
  }

  void grid() {
    text_ += svg_frame(kLeft, kTop, kSide, kSide);
    for (int decade = static_cast<int>(std::floor(axes_.low)); decade <= axes_.high; ++decade) {
      for (const double factor : {1.0, 2.0, 5.0}) {
        const double seconds = factor * std::pow(10, decade);
        if (std::log10(seconds) < axes_.low || std::log10(seconds) > axes_.high) continue;
        const double x = axes_.x(seconds), y = axes_.y(seconds);
        text_ += fmt::format("<path class=\"grid\" d=\"M{:.1f} {}v{}M{} {:.1f}h{}\"/>\n", x, kTop,
                             kSide, kLeft, y, kSide);
        if (factor > 1 && !axes_.has_room_within_decades()) continue;
        const std::string title =
            seconds < 1 ? fmt::format("{:g} ms", seconds * 1e3) : fmt::format("{:g} s", seconds);
        words(x, kTop + kSide + 18, "middle", title);
        words(kLeft - 6, y + 4, "end", title);
      }
    }
    words(kLeft + kSide / 2, kTop + kSide + 42, "middle", "measured step");
    words(kLeft, kTop - 14, "start", "predicted step; dashed: 10 % more and less than measured");
  }

  /// Draws the line predicted = factor x measured, as far as it is in the square.
  void line(double factor, const char* style) {
    const double shift = std::log10(factor);
    const double from = std::max(axes_.low, axes_.low - shift);
    const double to = std::min(axes_.high, axes_.high - shift);
    text_ += fmt::format("<path class=\"{}\" d=\"M{:.1f} {:.1f}L{:.1f} {:.1f}\"/>\n", style,
                         axes_.x(std::pow(10, from)), axes_.y(std::pow(10, from + shift)),
                         axes_.x(std::pow(10, to)), axes_.y(std::pow(10, to + shift)));
  }

  PlotMark mark_of(const std::string& family) const {
    const auto at = std::ranges::find(families_, family) - families_.begin();
    return plot_mark(static_cast<std::size_t>(at));
  }

  /// The rows with a prediction, in the order in which they are drawn: rows of large families below
  /// those of small ones, which they would hide.
  std::vector<std::size_t> in_drawing_order() const {
    std::map<std::string, int> members;
    for (const ValidationRow& row : rows_) ++members[family_of(row, many_)];
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < rows_.size(); ++i)
      if (rows_[i].predicted) order.push_back(i);
    std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) {
      return members[family_of(rows_[a], many_)] > members[family_of(rows_[b], many_)];
    });
    return order;
  }

  void points() {
    for (const std::size_t i : in_drawing_order()) {
      const ValidationRow& row = rows_[i];
      const std::string suite = many_ ? row.suite + ", " : "";
      text_ += svg_mark(axes_.x(row.measured->seconds()), axes_.y(row.predicted->step.seconds()),
                        mark_of(family_of(row, many_)), !row.known.empty(),
                        fmt::format("{}{}: {}", suite, row.label, signed_error(row.error())));
    }
  }

  void legend() {
    for (std::size_t i = 0; i < legend_.words.size(); ++i) {
      const double x = legend_.x(i), y = legend_.y(i);
      if (i < families_.size()) text_ += svg_mark(x, y, plot_mark(i), false);
      words(x + 12, y + 4, "start", legend_.words[i]);
    }
  }

  const std::vector<ValidationRow>& rows_;
  bool many_;
  Axes axes_;
  std::vector<std::string> families_;
  Legend legend_;
  std::string text_;
};

}  // namespace

std::string validation_scatter(const Validation& validation) { return Picture(validation).svg(); }

}  // namespace stepsim
