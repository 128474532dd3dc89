// Draws time over GPUs: a mark for each size, and the front as a line through the sizes worth
// having.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "sim/report/measure/cost.hpp"
#include "sim/report/picture/plot_axis.hpp"
#include "sim/report/picture/svg.hpp"
#include "sim/report/run/long_run_text.hpp"
#include "sim/report/search/capacity_report.hpp"
#include "sim/text/humanise.hpp"

namespace stepsim {
namespace {

constexpr double kWidth = 720, kHeight = 460;
constexpr double kLeft = 80, kRight = 24, kTop = 56, kBottom = 52;  // pixels around the frame
constexpr double kInset = 30;  ///< pixels from the frame to the first and the last mark
constexpr double kDay = 24 * 3600;
constexpr const char* kStyles =
    ".line { fill: none; stroke: #0072b2; stroke-width: 1.5 }\n"
    ".dot { fill: #0072b2 }\n"
    ".beside { fill: none; stroke: #d55e00; stroke-width: 1.5 }\n"
    ".deadline { stroke: #d55e00; stroke-width: 1; stroke-dasharray: 6 4 }\n"
    ".small { font-size: 11px }\n"
    ".title { font-weight: bold }\n";
/// Styles for dark pages, on which the blue and the red of lines would be too dark.
constexpr const char* kDarkStyles =
    ".line { stroke: #56b4e9 } .dot { fill: #56b4e9 }\n"
    "  .beside, .deadline { stroke: #e69f00 }";
/// width of a letter of small words over that of a letter that text_width counts
constexpr double kSmall = 11.0 / 13;
constexpr double kDot = 4;  ///< radius of a mark in pixels
constexpr int kSteps = 32;  ///< points of a line at which it is looked at

struct Box {
  double left = 0, top = 0, right = 0, bottom = 0;
  bool meets(const Box& other) const {
    return left < other.right && other.left < right && top < other.bottom && other.top < bottom;
  }
  bool holds(double x, double y) const { return x > left && x < right && y > top && y < bottom; }
};

class Picture {
 public:
  explicit Picture(const CapacityReport& report) : r_(report) {
    for (const CapacityPoint& point : r_.points) {
      if (point.best() == nullptr) continue;
      points_.push_back(&point);
      has_run_ |= point.run().has_value();
    }
    std::vector<double> gpus, times;
    for (const CapacityPoint* point : points_) {
      gpus.push_back(point->search.gpus);
      times.push_back(time_of(*point));
    }
    if (points_.empty()) return;
    unit_ = !has_run_ ? 1 : *std::ranges::max_element(times) < 2 * kDay ? 3600 : kDay;
    x_ = scale_along(gpus, kLeft + kInset, kWidth - kRight - kInset);
    if (has_run_ && r_.deadline) times.push_back(r_.deadline->seconds());
    y_ = scale_of_results(times, unit_, true, kHeight - kBottom, kTop);
  }

  std::string svg() {
    out_ = svg_begin({kWidth, kHeight, "time over GPUs", kStyles, kDarkStyles});
    out_ += svg_words(kLeft, 22, "start", r_.scenario, "class=\"title\"");
    if (points_.empty()) {
      out_ += svg_words(kLeft, kHeight / 2, "start", "nothing fits");
    } else {
      axes();
      deadline();
      line();
      for (const CapacityPoint* point : points_) mark(*point);
      if (has_run_) costs();
    }
    return out_ + "</svg>\n";
  }

 private:
  std::string unit_name() const { return unit_ == 1 ? "s" : unit_ == kDay ? "days" : "h"; }

  void axes() {
    const double bottom = kHeight - kBottom, right = kWidth - kRight;
    out_ += svg_words(
        kLeft, kTop - 10, "start",
        fmt::format("{}, {}", has_run_ ? "time of the training" : "time of a step", unit_name()),
        "class=\"small\"");
    for (const double value : round_values(y_, unit_)) {
      const double y = y_.at(value);
      out_ += fmt::format("<path class=\"grid\" d=\"M{:.1f} {:.1f}H{:.1f}\"/>\n", kLeft, y, right);
      out_ += svg_words(kLeft - 6, y + 4, "end", fmt::format("{:.4g}", value / unit_),
                        "class=\"small\"");
    }
    std::vector<PlotLabel> labels;
    for (const CapacityPoint* point : points_) {
      const std::string text = grouped(point->search.gpus);
      labels.push_back({x_.at(point->search.gpus), text_width(text), text});
    }
    for (const std::size_t place : readable(labels)) {
      out_ += fmt::format("<path class=\"grid\" d=\"M{:.1f} {:.1f}V{:.1f}\"/>\n", labels[place].at,
                          kTop, bottom + 4);
      out_ +=
          svg_words(labels[place].at, bottom + 18, "middle", labels[place].text, "class=\"small\"");
    }
    out_ += svg_words((kLeft + right) / 2, bottom + 38, "middle", "GPUs");
    out_ += svg_frame(kLeft, kTop, right - kLeft, bottom - kTop);
  }

  void deadline() {
    if (!has_run_ || !r_.deadline) return;
    const double y = y_.at(r_.deadline->seconds()), right = kWidth - kRight;
    const std::string text = "deadline " + span_text(*r_.deadline);
    out_ +=
        fmt::format("<path class=\"deadline\" d=\"M{:.1f} {:.1f}H{:.1f}\"/>\n", kLeft, y, right);
    out_ += svg_words(right - 6, y - 5, "end", text, "class=\"small\"");
    const double width = text_width(text) * kSmall;
    taken_.push_back({right - 6 - width, y - 16, right, y + 1});
  }

  void line() {
    std::string path;
    for (const CapacityPoint* point : points_) {
      if (!point->on_front) continue;
      path += fmt::format("{}{:.1f} {:.1f}", path.empty() ? "M" : "L", x_.at(point->search.gpus),
                          y_.at(time_of(*point)));
    }
    if (!path.empty()) out_ += fmt::format("<path class=\"line\" d=\"{}\"/>\n", path);
  }

  void mark(const CapacityPoint& point) {
    const double x = x_.at(point.search.gpus), y = y_.at(time_of(point));
    const std::string title = fmt::format(
        "{} GPUs: {}, {}, {}", grouped(point.search.gpus),
        has_run_ ? span_text(Seconds{time_of(point)}) : humanise(Seconds{time_of(point)}).text(),
        cost_text(point), strategy_text(point.search.listed.front().strategy));
    out_ += fmt::format(
        "<circle class=\"{}\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{}\"><title>{}</title></circle>\n",
        point.on_front ? "dot" : "beside", x, y, kDot, escaped(title));
    taken_.push_back({x - kDot, y - kDot, x + kDot, y + kDot});
  }

  std::string cost_text(const CapacityPoint& point) const {
    return r_.dollars_per_hour ? dollars(cost_of(point, r_))
                               : humanise(cost_of(point, r_), "GPU hours").text();
  }

  /// Writes costs beside the marks, those of the front first. A cost that finds no room stands in
  /// the title of its mark alone.
  void costs() {
    for (const bool on_front : {true, false}) {
      for (const CapacityPoint* point : points_)
        if (point->on_front == on_front) cost(*point);
    }
  }

  void cost(const CapacityPoint& point) {
    const double x = x_.at(point.search.gpus), y = y_.at(time_of(point));
    const std::string text = cost_text(point);
    const double width = text_width(text) * kSmall, half = width / 2;
    // The line falls to the right, so that there is most room above it.
    const std::pair<double, double> centres[] = {{x + half + 4, y - 9},  {x, y - 12},
                                                 {x - half - 4, y + 11}, {x, y + 14},
                                                 {x + half + 8, y},      {x - half - 8, y}};
    for (const auto& [centre, middle] : centres) {
      const Box box{centre - half, middle - 7, centre + half, middle + 6};
      if (!is_free(box)) continue;
      out_ += svg_words(centre, middle + 4, "middle", text, "class=\"small\"");
      taken_.push_back(box);
      return;
    }
  }

  bool is_free(const Box& box) const {
    const bool is_inside = box.left > kLeft + 2 && box.right < kWidth - kRight - 2 &&
                           box.top > kTop + 2 && box.bottom < kHeight - kBottom - 2;
    const auto meets = [&](const Box& other) { return box.meets(other); };
    return is_inside && std::ranges::none_of(taken_, meets) && !is_on_line(box);
  }

  bool is_on_line(const Box& box) const {
    const CapacityPoint* before = nullptr;
    for (const CapacityPoint* point : points_) {
      if (!point->on_front) continue;
      for (int i = 0; before != nullptr && i <= kSteps; ++i) {
        const double share = static_cast<double>(i) / kSteps;
        const auto between = [&](double a, double b) { return a + share * (b - a); };
        if (box.holds(between(x_.at(before->search.gpus), x_.at(point->search.gpus)),
                      between(y_.at(time_of(*before)), y_.at(time_of(*point)))))
          return true;
      }
      before = point;
    }
    return false;
  }

  const CapacityReport& r_;
  std::vector<const CapacityPoint*> points_;
  bool has_run_ = false;
  double unit_ = 1;
  PlotScale x_, y_;
  std::vector<Box> taken_;  ///< boxes of marks and words inside the frame
  std::string out_;
};

}  // namespace

std::string capacity_svg(const CapacityReport& report) { return Picture(report).svg(); }

}  // namespace stepsim
