// Draws a sweep's objective along an axis of numbers: a line with a mark for each point.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "sim/report/picture/plot_axis.hpp"
#include "sim/report/picture/svg.hpp"
#include "sim/report/sweep/sweep_plot.hpp"

namespace stepsim {
namespace {

constexpr double kLeft = 76, kRight = 16, kTop = 24, kBottom = 44;  // pixels around the frame
constexpr double kInset = 14;  ///< pixels from the frame to the first and the last point
constexpr double kStrip = 26;  ///< height of the strip at the top for points without a value
constexpr double kStripMiddle = 10;
constexpr double kLeastForWords = 240;  ///< a lower frame has no words at the best
constexpr std::size_t kLongestLabel = 16;

struct Dot {
  std::string title;
  double number = 0;
  const Outcome* outcome = nullptr;  ///< null: the point was not simulated
  std::optional<double> result;
};

class Line {
 public:
  Line(const SweepAnswer& answer, std::size_t axis, const PlotBox& box,
       const std::vector<double>& results)
      : a_(answer), axis_(axis), objective_(*answer.objective), box_(box) {
    const AxisSlice& slice = a_.slices[axis];
    std::vector<double> numbers;
    for (const std::size_t place : slice.order) {
      const AxisValue& value = a_.axes[axis].values[place];
      Dot dot{.title = text_of(value), .number = *value.number};
      if (slice.outcomes[place]) {
        dot.outcome = &*slice.outcomes[place];
        dot.result = result_of(objective_, *dot.outcome);
        if (!dot.result) failures_.push_back(dot.outcome);
        some_hollow_ |= dot.result && !is_ok(objective_, *dot.outcome);
      }
      numbers.push_back(dot.number);
      dots_.push_back(dot);
    }
    frame_ = {box.x + kLeft, box.y + kTop, box.width - kLeft - kRight, box.height - kTop - kBottom};
    x_ = scale_along(numbers, frame_.x + kInset, frame_.x + frame_.width - kInset);
    unit_ = result_unit(objective_, *std::ranges::max_element(results));
    const double top = frame_.y + (failures_.empty() ? 0 : kStrip);
    y_ = scale_of_results(results, unit_.size, objective_.is_less_better, frame_.y + frame_.height,
                          top);
  }

  PlotPart part() {
    flat();
    results_axis();
    values_axis();
    out_ += svg_frame(frame_.x, frame_.y, frame_.width, frame_.height);
    segments();
    for (const Dot& dot : dots_) mark(dot);
    best();
    return {out_, box_.y + box_.height, notes()};
  }

 private:
  double bottom() const { return frame_.y + frame_.height; }
  double right() const { return frame_.x + frame_.width; }

  /// Draws the range that is as good as the best, a mark wide at least.
  void flat() {
    const auto& range = a_.slices[axis_].flat;
    if (!range) return;
    const double first = x_.at(dots_[range->first].number), last = x_.at(dots_[range->last].number);
    out_ += fmt::format(
        "<rect class=\"flat\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\"/>\n",
        first - 6, frame_.y, last - first + 12, frame_.height);
  }

  void results_axis() {
    out_ += svg_words(frame_.x, frame_.y - 9, "start", objective_.title, "class=\"small\"");
    for (const double value : round_values(y_, unit_.size)) {
      const double y = y_.at(value);
      out_ +=
          fmt::format("<path class=\"grid\" d=\"M{:.1f} {:.1f}H{:.1f}\"/>\n", frame_.x, y, right());
      const std::string text = tick_text(unit_, value);
      out_ += svg_words(frame_.x - 6, y + 4, "end", text, "class=\"small\"");
    }
    if (failures_.empty()) return;
    out_ += fmt::format("<path class=\"grid\" d=\"M{:.1f} {:.1f}H{:.1f}\"/>\n", frame_.x, y_.end,
                        right());
    out_ +=
        svg_words(frame_.x - 6, frame_.y + kStripMiddle + 4, "end", "none", "class=\"small dim\"");
  }

  void values_axis() {
    std::vector<PlotLabel> labels;
    for (const Dot& dot : dots_) {
      const std::string text = shortened(dot.title, kLongestLabel);
      labels.push_back({x_.at(dot.number), text_width(text), text});
    }
    for (const std::size_t place : readable(labels)) {
      const PlotLabel& label = labels[place];
      out_ += fmt::format("<path class=\"grid\" d=\"M{:.1f} {:.1f}V{:.1f}\"/>\n", label.at,
                          frame_.y, bottom() + 4);
      out_ += svg_words(label.at, bottom() + 17, "middle", label.text, "class=\"small\"");
    }
    out_ += svg_words(frame_.x + frame_.width / 2, bottom() + 36, "middle",
                      axis_name(a_, axis_, frame_.width));
  }

  std::string at(const Dot& dot) const {
    return fmt::format("{:.1f} {:.1f}", x_.at(dot.number), y_.at(*dot.result));
  }

  /// Draws segments between neighbours: solid where both are ok, broken where one is hollow, none
  /// beside a point without a value. Points that were not simulated are passed over.
  void segments() {
    const Dot* before = nullptr;
    std::string solid, broken;
    bool continues = false;
    for (const Dot& dot : dots_) {
      if (!dot.outcome) continue;
      if (before && before->result && dot.result) {
        const bool ok = is_ok(objective_, *before->outcome) && is_ok(objective_, *dot.outcome);
        if (!ok) broken += fmt::format("M{}L{}", at(*before), at(dot));
        if (ok && !continues) solid += "M" + at(*before);
        if (ok) solid += "L" + at(dot);
        continues = ok;
      } else {
        continues = false;
      }
      before = &dot;
    }
    if (!broken.empty()) out_ += fmt::format("<path class=\"line broken\" d=\"{}\"/>\n", broken);
    if (!solid.empty()) out_ += fmt::format("<path class=\"line\" d=\"{}\"/>\n", solid);
  }

  double radius() const { return dots_.size() <= 30 ? 4 : dots_.size() <= 120 ? 2.8 : 1.8; }

  void mark(const Dot& dot) {
    if (!dot.outcome) return;
    const std::string words = escaped(dot.title + ": " + result_words(a_, *dot.outcome));
    const double x = x_.at(dot.number), r = radius();
    if (dot.result) {
      out_ += fmt::format(
          "<circle class=\"{}\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{}\"><title>{}</title></circle>\n",
          is_ok(objective_, *dot.outcome) ? "dot" : "hollow", x, y_.at(*dot.result), r, words);
    } else {
      out_ += fmt::format(
          "<path class=\"cross\" d=\"M{:.1f} {:.1f}l{} {}m0 -{}l-{} "
          "{}\"><title>{}</title></path>\n",
          x - r, frame_.y + kStripMiddle - r, 2 * r, 2 * r, 2 * r, 2 * r, 2 * r, words);
    }
  }

  /// The words of the best stand beyond its mark as seen from worse ones; a small frame has none.
  void best() {
    const auto& range = a_.slices[axis_].flat;
    if (!range) return;
    const Dot& dot = dots_[range->best];
    const double x = x_.at(dot.number), y = y_.at(*dot.result);
    out_ += fmt::format("<circle class=\"best\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{}\"/>\n", x, y,
                        radius());
    out_ += fmt::format("<circle class=\"ring\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{}\"/>\n", x, y,
                        radius() + 4);
    if (frame_.height < kLeastForWords) return;
    const std::string text = fmt::format("{} at {}", objective_text(objective_, *dot.result),
                                         shortened(dot.title, kLongestLabel));
    const double half = text_width(text) / 2 + 4;
    const double centre = std::max(frame_.x + half, std::min(right() - half, x));
    const double shift = radius() + 4;
    out_ += svg_words(centre, objective_.is_less_better ? y + shift + 14 : y - shift - 5, "middle",
                      text, "class=\"bold\"");
  }

  std::vector<std::string> notes() const {
    std::vector<std::string> notes;
    const std::string flat = flatness_sentence(a_, axis_);
    if (!flat.empty())
      notes.push_back(fmt::format("Best {}: {}.", axis_title(a_.axes, axis_), flat));
    if (some_hollow_) notes.emplace_back("Hollow: does not fit the memory of a GPU.");
    if (!failures_.empty())
      notes.push_back(fmt::format("Crosses: {}.", count_of_failures(objective_, failures_)));
    if (y_.is_log)
      notes.push_back(fmt::format("The axis of {} is logarithmic.", objective_.title));
    else if (y_.low > 0)
      notes.push_back(fmt::format("The axis of {} begins at {}, not at 0.", objective_.title,
                                  tick_text(unit_, y_.low)));
    return notes;
  }

  const SweepAnswer& a_;
  std::size_t axis_;
  const Objective& objective_;
  PlotBox box_, frame_;
  std::vector<Dot> dots_;
  std::vector<const Outcome*> failures_;
  bool some_hollow_ = false;
  PlotScale x_, y_;
  ResultUnit unit_;
  std::string out_;
};

}  // namespace

PlotPart line_plot(const SweepAnswer& answer, std::size_t axis, const PlotBox& box,
                   const std::vector<double>& results) {
  return Line(answer, axis, box, results).part();
}

}  // namespace stepsim
