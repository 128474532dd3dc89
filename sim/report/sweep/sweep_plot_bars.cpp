// Draws a sweep's objective along an axis of words: bars.
#include <algorithm>

#include <fmt/format.h>

#include "sim/report/picture/plot_axis.hpp"
#include "sim/report/picture/svg.hpp"
#include "sim/report/sweep/sweep_plot.hpp"

namespace stepsim {
namespace {

constexpr double kTop = 24, kRow = 24, kBar = 15, kGap = 8;
constexpr std::size_t kLongestLabel = 28;

class Bars {
 public:
  Bars(const SweepAnswer& answer, std::size_t axis, const PlotBox& box)
      : a_(answer), axis_(axis), box_(box), longest_(box.width < 500 ? 16 : kLongestLabel) {
    const AxisSlice& slice = a_.slices[axis];
    for (const std::size_t place : slice.order) {
      if (!slice.outcomes[place]) continue;
      rows_.push_back({text_of(a_.axes[axis].values[place]), &*slice.outcomes[place]});
      left_ = std::max(left_, text_width(shortened(rows_.back().title, longest_)));
      most_ = std::max(most_, result_of(*a_.objective, *rows_.back().outcome).value_or(0));
      const auto value = result_of(*a_.objective, *rows_.back().outcome);
      if (value) behind_ = std::max(behind_, text_width(behind(rows_.back(), *value)));
    }
  }

  PlotPart part() {
    const std::string lead = fmt::format("{} by ", a_.objective->title);
    const std::string heading = lead + axis_name(a_, axis_, box_.width - text_width(lead));
    out_ += svg_words(box_.x + 8, box_.y + 15, "start", heading, "class=\"small\"");
    double y = box_.y + kTop;
    for (const Row& row : rows_) {
      bar(row, y);
      y += kRow;
    }
    std::vector<std::string> notes;
    if (some_hollow_) notes.emplace_back("Hollow: does not fit the memory of a GPU.");
    return {out_, y + kGap, notes};
  }

 private:
  struct Row {
    std::string title;
    const Outcome* outcome = nullptr;
  };

  /// The words behind a bar.
  std::string behind(const Row& row, double value) const {
    const double best = best_result(a_);
    const bool fits = is_ok(*a_.objective, *row.outcome);
    return fmt::format("{}{}", objective_text(*a_.objective, value),
                       fits ? ", " + distance_text(value, best) : "");
  }

  void bar(const Row& row, double y) {
    const double x = box_.x + 8 + left_ + kGap, middle = y + kRow / 2 + 4;
    const std::string words = escaped(row.title + ": " + result_words(a_, *row.outcome));
    out_ += fmt::format("<g><title>{}</title>\n", words);
    out_ += svg_words(x - kGap, middle, "end", shortened(row.title, longest_), "class=\"small\"");
    const auto value = result_of(*a_.objective, *row.outcome);
    if (!value) {
      const std::string state = row.outcome->state == PointState::ok
                                    ? fmt::format("no {}", a_.objective->title)
                                    : std::string(name_of(row.outcome->state));
      out_ += svg_words(x, middle, "start", state, "class=\"small dim\" font-style=\"italic\"");
    } else {
      const bool fits = is_ok(*a_.objective, *row.outcome);
      some_hollow_ |= !fits;
      const double whole = box_.x + box_.width - x - behind_ - 2 * kGap;
      const double width = std::max(1.0, *value / most_ * whole);
      const bool best = fits && *value == best_result(a_);
      out_ += fmt::format(
          "<rect class=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{}\"/>\n",
          !fits  ? "hollow"
          : best ? "best"
                 : "dot",
          x, y + (kRow - kBar) / 2, width, kBar);
      out_ += svg_words(x + width + kGap, middle, "start", behind(row, *value),
                        best ? "class=\"small\" font-weight=\"bold\"" : "class=\"small\"");
    }
    out_ += "</g>\n";
  }

  const SweepAnswer& a_;
  std::size_t axis_;
  PlotBox box_;
  std::size_t longest_;
  std::vector<Row> rows_;
  double left_ = 0, behind_ = 0, most_ = 0;
  bool some_hollow_ = false;
  std::string out_;
};

}  // namespace

PlotPart bar_plot(const SweepAnswer& answer, std::size_t axis, const PlotBox& box) {
  return Bars(answer, axis, box).part();
}

}  // namespace stepsim
