// Predicted over measured step times as a picture: SVG that is readable on light and dark pages.
#include <algorithm>
#include <cmath>

#include "sim/report/svg.hpp"
#include "sim/report/validation.hpp"
#include "sim/report/validation_words.hpp"

namespace stepsim {
namespace {

constexpr double kWidth = 720, kHeight = 620;
constexpr double kLeft = 70, kTop = 40, kSide = 500;  // of the square that holds the points

/// Decades of seconds, the same on both axes.
struct Axes {
  double low = 0, high = 1;  ///< logarithms

  double along(double seconds) const { return (std::log10(seconds) - low) / (high - low) * kSide; }
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

/// What colours tell apart: suites, or the first group of a lone one.
std::string family_of(const ValidationRow& row, bool many) {
  return many || row.groups.empty() ? row.suite : row.groups.front().second;
}

class Picture {
 public:
  explicit Picture(const Validation& validation)
      : rows_(validation.rows), many_(validation.suites.size() > 1), axes_(axes_of(rows_)) {
    for (const ValidationRow& row : rows_) {
      const std::string family = family_of(row, many_);
      if (std::find(families_.begin(), families_.end(), family) == families_.end())
        families_.push_back(family);
    }
  }

  std::string svg() {
    text_ = svg_begin({.width = kWidth,
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
        const std::string title = seconds < 1 ? fmt::format("{:.4g} ms", seconds * 1e3)
                                              : fmt::format("{:.4g} s", seconds);
        words(x, kTop + kSide + 18, "middle", title);
        words(kLeft - 6, y + 4, "end", title);
      }
    }
    words(kLeft + kSide / 2, kTop + kSide + 42, "middle", "measured step");
    words(kLeft, kTop - 14, "start", "predicted step; dashed: 10 % more and less than measured");
  }

  /// predicted = factor x measured, as far as it is in the square.
  void line(double factor, const char* style) {
    const double shift = std::log10(factor);
    const double from = std::max(axes_.low, axes_.low - shift);
    const double to = std::min(axes_.high, axes_.high - shift);
    text_ += fmt::format("<path class=\"{}\" d=\"M{:.1f} {:.1f}L{:.1f} {:.1f}\"/>\n", style,
                         axes_.x(std::pow(10, from)), axes_.y(std::pow(10, from + shift)),
                         axes_.x(std::pow(10, to)), axes_.y(std::pow(10, to + shift)));
  }

  const char* colour_of(const std::string& family) const {
    const auto at = std::find(families_.begin(), families_.end(), family) - families_.begin();
    return kPlotColours[static_cast<std::size_t>(at) % kPlotColours.size()];
  }

  void points() {
    for (const ValidationRow& row : rows_) {
      if (!row.predicted) continue;
      text_ += fmt::format(
          "<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3.5\" fill=\"{}\" fill-opacity=\"{}\" "
          "stroke=\"{}\"><title>{}: {}</title></circle>\n",
          axes_.x(row.measured->seconds()), axes_.y(row.predicted->step.seconds()),
          colour_of(family_of(row, many_)), row.known.empty() ? "0.7" : "0",
          colour_of(family_of(row, many_)), escaped(row.label), signed_error(row.error()));
    }
  }

  void legend() {
    double y = kTop + 8;
    for (const std::string& family : families_) {
      text_ += fmt::format("<circle cx=\"{}\" cy=\"{:.1f}\" r=\"5\" fill=\"{}\"/>\n",
                           kLeft + kSide + 18, y, colour_of(family));
      words(kLeft + kSide + 30, y + 4, "start", family);
      y += 20;
    }
    const auto is_known = [](const ValidationRow& row) { return !row.known.empty(); };
    if (std::any_of(rows_.begin(), rows_.end(), is_known))
      words(kLeft + kSide + 13, y + 10, "start", "hollow: known");
  }

  const std::vector<ValidationRow>& rows_;
  bool many_;
  Axes axes_;
  std::vector<std::string> families_;
  std::string text_;
};

}  // namespace

std::string validation_scatter(const Validation& validation) { return Picture(validation).svg(); }

}  // namespace stepsim
