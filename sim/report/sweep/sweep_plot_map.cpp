// Draws a sweep over two axes: a map, coloured by how much worse each point is than the best.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "sim/report/picture/plot_axis.hpp"
#include "sim/report/picture/svg.hpp"
#include "sim/report/sweep/sweep_plot.hpp"

namespace stepsim {
namespace {

constexpr double kTop = 20, kRight = 16, kAxisName = 24;
constexpr double kWidestCell = 96, kHighestCell = 34, kLowestCell = 9, kHighest = 560;
constexpr double kLetterHeight = 15;  ///< height of a line of small text
constexpr double kSmall = 12.0 / 13;  ///< size of small letters over those of text_width
constexpr std::size_t kLongestLabel = 18;

/// A colour for how much worse a point is than the best.
struct Shade {
  double most = 0;  ///< worse by at most this share; infinite for the last
  const char* colour = "";
  bool dark_words = true;  ///< whether dark words are legible on it
};

/// Eight samples of viridis (Smith and van der Walt 2015, bids.github.io/colormap), in which
/// lightness alone tells the order, also to the colour-blind and in grey. Shares in steps of about
/// 1, 2, 5: what is within 1 % is as good as the best.
constexpr std::array kShades{
    Shade{0.01, "#fde725"},       Shade{0.02, "#a0da39"},
    Shade{0.05, "#4ac16d"},       Shade{0.1, "#1fa187"},
    Shade{0.2, "#277f8e", false}, Shade{0.5, "#365c8d", false},
    Shade{1, "#46327e", false},   Shade{std::numeric_limits<double>::infinity(), "#440154", false}};

std::size_t shade_of(double value, double best, bool is_less_better) {
  const double worse = is_less_better ? value / best - 1 : 1 - value / best;
  std::size_t i = 0;
  while (i + 1 < kShades.size() && worse > kShades[i].most * (1 + 1e-9)) ++i;
  return i;
}

/// "within 1 %", "2 to 5 %", "over 100 %".
std::string range_of_shade(std::size_t shade) {
  if (shade == 0) return fmt::format("within {:.0f} %", kShades[0].most * 100);
  const double from = kShades[shade - 1].most * 100;
  if (shade + 1 == kShades.size()) return fmt::format("over {:.0f} %", from);
  return fmt::format("{:.0f} to {:.0f} %", from, kShades[shade].most * 100);
}

class Map {
 public:
  Map(const SweepAnswer& answer, const PlotBox& box)
      : a_(answer), objective_(*answer.objective), box_(box) {
    for (std::size_t axis = 0; axis < 2; ++axis) {
      const auto& order = a_.slices[axis].order;
      for (const std::size_t place : order)
        titles_[axis].push_back(text_of(a_.axes[axis].values[place]));
      ranks_[axis].resize(order.size());
      for (std::size_t i = 0; i < order.size(); ++i) ranks_[axis][order[i]] = i;
    }
    double most = 0;
    for (const SweepPoint& p : a_.all)
      most = std::max(most, result_of(objective_, p.outcome).value_or(0));
    unit_ = result_unit(objective_, most);
    lay_out();
  }

  PlotPart part() {
    labels_along();
    labels_up();
    patterns();
    out_ += svg_frame(frame_.x, frame_.y, frame_.width, frame_.height);
    for (const SweepPoint& p : a_.all) cell(p);
    best();
    legend();
    return {out_, bottom_, notes()};
  }

 private:
  double columns() const { return static_cast<double>(titles_[0].size()); }
  double rows() const { return static_cast<double>(titles_[1].size()); }

  void lay_out() {
    double left = 0;
    for (const std::string& title : titles_[1])
      left = std::max(left, text_width(shortened(title, kLongestLabel)) * kSmall);
    frame_.x = std::round(box_.x + kAxisName + left + 8);
    frame_.y = box_.y + kTop;
    frame_.width = std::min(box_.x + box_.width - kRight - frame_.x, columns() * kWidestCell);
    const double height = std::clamp(kHighest / rows(), kLowestCell, kHighestCell);
    frame_.height = std::round(rows() * height);
  }

  /// The row of a value: numbers rise upwards, words are read downwards.
  std::size_t row_of(std::size_t rank) const {
    return holds_numbers(a_.axes[1]) ? titles_[1].size() - 1 - rank : rank;
  }

  static double centre(double begin, double size, std::size_t i, std::size_t count) {
    return begin + size * (static_cast<double>(i) + 0.5) / static_cast<double>(count);
  }

  /// The box of a cell. Its edges are whole pixels, so that no seams show between cells.
  PlotBox cell_at(std::size_t column, std::size_t rank) const {
    const auto edge = [](double begin, double size, double count, std::size_t i) {
      return std::round(begin + size * static_cast<double>(i) / count);
    };
    const std::size_t row = row_of(rank);
    const double x = edge(frame_.x, frame_.width, columns(), column);
    const double y = edge(frame_.y, frame_.height, rows(), row);
    return {x, y, edge(frame_.x, frame_.width, columns(), column + 1) - x,
            edge(frame_.y, frame_.height, rows(), row + 1) - y};
  }

  PlotBox cell_of(std::int64_t point) const {
    const auto places = places_of(a_.axes, point);
    return cell_at(ranks_[0][places[0]], ranks_[1][places[1]]);
  }

  void labels_along() {
    std::vector<PlotLabel> labels;
    double widest = 0;
    for (std::size_t i = 0; i < titles_[0].size(); ++i) {
      const std::string text = shortened(titles_[0][i], kLongestLabel);
      labels.push_back(
          {centre(frame_.x, frame_.width, i, titles_[0].size()), text_width(text) * kSmall, text});
      widest = std::max(widest, labels.back().width);
    }
    const double y = frame_.y + frame_.height;
    bottom_ = y + 16;
    std::vector<std::size_t> shown = readable(labels);
    const bool turned = shown.size() < labels.size() && !holds_numbers(a_.axes[0]);
    if (turned) {  // turned labels show every word
      for (PlotLabel& label : labels) label.width = kLetterHeight - 8;
      shown = readable(labels);
      // labels turn by 45 degrees, and words take less room than digits
      bottom_ = y + 12 + widest * 0.65;
    }
    for (const std::size_t i : shown) {
      const double x = labels[i].at;
      out_ += fmt::format("<path class=\"cross\" d=\"M{:.1f} {:.1f}v4\"/>\n", x, y);
      if (turned)
        out_ += svg_words(
            x + 4, y + 14, "end", labels[i].text,
            fmt::format("class=\"small\" transform=\"rotate(-45 {:.1f} {:.1f})\"", x + 4, y + 14));
      else
        out_ += svg_words(x, y + 17, "middle", labels[i].text, "class=\"small\"");
    }
    bottom_ += 20;
    const std::string name = axis_name(a_, 0, box_.width);
    const double middle = std::max(frame_.x + frame_.width / 2, box_.x + text_width(name) / 2);
    out_ += svg_words(middle, bottom_, "middle", name);
  }

  void labels_up() {
    const std::size_t rows = titles_[1].size();
    std::vector<PlotLabel> labels;
    for (std::size_t i = 0; i < rows; ++i)
      labels.push_back({centre(frame_.y, frame_.height, row_of(i), rows), kLetterHeight - 10,
                        shortened(titles_[1][i], kLongestLabel)});
    for (const std::size_t i : readable(labels)) {
      out_ +=
          fmt::format("<path class=\"cross\" d=\"M{:.1f} {:.1f}h-4\"/>\n", frame_.x, labels[i].at);
      out_ += svg_words(frame_.x - 7, labels[i].at + 4, "end", labels[i].text, "class=\"small\"");
    }
    out_ += svg_words(box_.x, frame_.y - 9, "start", axis_name(a_, 1, box_.width));
  }

  void patterns() {
    out_ +=
        "<defs>\n"
        "<pattern id=\"sweep-large\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\">"
        "<path class=\"hatch\" d=\"M-1 7L7 -1M-1 1L1 -1M5 7L7 5\"/></pattern>\n"
        "<pattern id=\"sweep-none\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\">"
        "<path class=\"hatch\" d=\"M0 0L6 6M0 6L6 0\"/></pattern>\n"
        "</defs>\n";
  }

  bool words_fit(const std::string& words) const {
    return frame_.height / rows() >= kLetterHeight &&
           text_width(words) * kSmall + 6 <= frame_.width / columns();
  }

  static std::string rect(const PlotBox& box, const std::string& attributes) {
    return fmt::format("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" {}/>\n", box.x, box.y,
                       box.width, box.height, attributes);
  }

  void cell(const SweepPoint& p) {
    const PlotBox box = cell_of(p.point);
    const std::string title = point_title(a_.axes, p.point) + ": " + result_words(a_, p.outcome);
    out_ += fmt::format("<g><title>{}</title>\n", escaped(title));
    const auto value = result_of(objective_, p.outcome);
    if (!value) failures_.push_back(&p.outcome);
    if (value && is_ok(objective_, p.outcome))
      shaded(box, *value);
    else
      out_ += rect(box, value ? "fill=\"url(#sweep-large)\"" : "fill=\"url(#sweep-none)\"");
    some_large_ |= value && !is_ok(objective_, p.outcome);
    out_ += "</g>\n";
  }

  void shaded(const PlotBox& box, double value) {
    const std::size_t i = shade_of(value, best_result(a_), objective_.is_less_better);
    used_ = std::max(used_, i);
    out_ += rect(box, fmt::format("fill=\"{}\"", kShades[i].colour));
    const std::string number = unit_.number(value);
    if (!words_fit(number)) return;
    has_words_ = true;
    out_ += svg_words(
        box.x + box.width / 2, box.y + box.height / 2 + 4, "middle", number,
        fmt::format("class=\"small\" style=\"fill: {}\"", kShades[i].dark_words ? "#000" : "#fff"));
  }

  /// Marks the best cell: black around white, which stands out on every shade.
  void best() {
    const PlotBox box = cell_of(a_.best.front().point);
    out_ += rect(box, "fill=\"none\" stroke=\"#000\" stroke-width=\"5\"");
    out_ += rect(box, "fill=\"none\" stroke=\"#fff\" stroke-width=\"2\"");
  }

  void swatch(double& x, const std::string& fill, const std::string& text) {
    const double width = 20 + text_width(text) * kSmall + 14;
    if (x + width > box_.x + box_.width) {
      x = box_.x;
      bottom_ += 20;
    }
    out_ += fmt::format(
        "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"14\" height=\"14\" fill=\"{}\" "
        "stroke=\"#888\" stroke-width=\"0.5\"/>\n",
        x, bottom_ - 11, fill);
    out_ += svg_words(x + 20, bottom_, "start", text, "class=\"small\"");
    x += width;
  }

  void legend() {
    bottom_ += 30;
    double x = box_.x;
    const std::string lead = "worse than the best";
    out_ += svg_words(x, bottom_, "start", lead, "class=\"small\"");
    x += text_width(lead) * kSmall + 8;
    for (std::size_t i = 0; i <= used_; ++i) swatch(x, kShades[i].colour, range_of_shade(i));
    if (some_large_) swatch(x, "url(#sweep-large)", "does not fit the memory");
    if (!failures_.empty()) swatch(x, "url(#sweep-none)", count_of_failures(objective_, failures_));
    if (a_.all.size() < titles_[0].size() * titles_[1].size()) swatch(x, "none", "not simulated");
    bottom_ += 10;
  }

  std::vector<std::string> notes() const {
    const SweepPoint& best = a_.best.front();
    std::vector<std::string> notes{fmt::format("Best, outlined: {} at {}.",
                                               objective_text(objective_, best_result(a_)),
                                               point_title(a_.axes, best.point))};
    for (std::size_t axis = 0; axis < 2; ++axis) {
      const std::string flat = flatness_sentence(a_, axis);
      if (!flat.empty())
        notes.push_back(fmt::format("Best {}: {}.", axis_title(a_.axes, axis), flat));
    }
    if (has_words_)
      notes.push_back(fmt::format("In the cells: {}.", title_with(objective_, unit_)));
    return notes;
  }

  const SweepAnswer& a_;
  const Objective& objective_;
  PlotBox box_, frame_;
  std::array<std::vector<std::string>, 2> titles_;  ///< in the order of the picture
  std::array<std::vector<std::size_t>, 2> ranks_;   ///< the place of each value in that order
  ResultUnit unit_;
  bool has_words_ = false, some_large_ = false;
  std::size_t used_ = 0;  ///< index of the darkest shade
  std::vector<const Outcome*> failures_;
  double bottom_ = 0;
  std::string out_;
};

}  // namespace

PlotPart map_plot(const SweepAnswer& answer, const PlotBox& box) { return Map(answer, box).part(); }

}  // namespace stepsim
