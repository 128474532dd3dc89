// Time over GPUs as a picture: a mark for each size, the front as a line through those worth
// having.
#include <algorithm>

#include <fmt/format.h>

#include "sim/report/capacity_report.hpp"
#include "sim/report/cost.hpp"
#include "sim/report/humanise.hpp"
#include "sim/report/long_run_text.hpp"
#include "sim/report/plot_axis.hpp"
#include "sim/report/svg.hpp"

namespace stepsim {
namespace {

constexpr double kWidth = 720, kHeight = 460;
constexpr double kLeft = 80, kRight = 24, kTop = 56, kBottom = 52;  // around the frame
constexpr double kInset = 30;  ///< from the frame to the first and the last mark
constexpr double kDay = 24 * 3600;
constexpr const char* kStyles =
    ".line { fill: none; stroke: #0072b2; stroke-width: 1.5 }\n"
    ".dot { fill: #0072b2 }\n"
    ".beside { fill: none; stroke: #d55e00; stroke-width: 1.5 }\n"
    ".small { font-size: 11px }\n"
    ".title { font-weight: bold }\n";

class Picture {
 public:
  explicit Picture(const CapacityReport& report) : r_(report) {
    for (const CapacityPoint& point : r_.points) {
      if (point.best() == nullptr) continue;
      points_.push_back(&point);
      has_run_ |= point.run.has_value();
    }
    std::vector<double> gpus, times;
    for (const CapacityPoint* point : points_) {
      gpus.push_back(point->search.gpus);
      times.push_back(time_of(*point));
    }
    if (points_.empty()) return;
    unit_ = !has_run_ ? 1 : *std::max_element(times.begin(), times.end()) < 2 * kDay ? 3600 : kDay;
    x_ = scale_along(gpus, kLeft + kInset, kWidth - kRight - kInset);
    y_ = scale_of_results(times, unit_, true, kHeight - kBottom, kTop);
  }

  std::string svg() {
    out_ = svg_begin({kWidth, kHeight, "time over GPUs", kStyles, ""});
    out_ += svg_words(kLeft, 22, "start", r_.scenario, "class=\"title\"");
    if (points_.empty()) {
      out_ += svg_words(kLeft, kHeight / 2, "start", "nothing fits");
    } else {
      axes();
      line();
      for (const CapacityPoint* point : points_) mark(*point);
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
    const std::string cost = r_.dollars_per_hour ? dollars(cost_of(point, r_))
                                                 : humanise(cost_of(point, r_), "GPU hours").text();
    const std::string title = fmt::format(
        "{} GPUs: {}, {}, {}", grouped(point.search.gpus),
        has_run_ ? span_text(Seconds{time_of(point)}) : humanise(Seconds{time_of(point)}).text(),
        cost, strategy_text(point.search.listed.front().strategy));
    out_ += fmt::format(
        "<circle class=\"{}\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"4\"><title>{}</title></circle>\n",
        point.on_front ? "dot" : "beside", x, y, escaped(title));
    if (has_run_) out_ += svg_words(x, y - 10, "middle", cost, "class=\"small\"");
  }

  const CapacityReport& r_;
  std::vector<const CapacityPoint*> points_;
  bool has_run_ = false;
  double unit_ = 1;
  PlotScale x_, y_;
  std::string out_;
};

}  // namespace

std::string capacity_svg(const CapacityReport& report) { return Picture(report).svg(); }

}  // namespace stepsim
