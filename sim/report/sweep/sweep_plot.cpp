// Draws a sweep's answer: which parts the picture has, and the words around them.
#include "sim/report/sweep/sweep_plot.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "sim/report/picture/plot_axis.hpp"
#include "sim/report/picture/svg.hpp"
#include "sim/text/humanise.hpp"
#include "sim/text/layout.hpp"

namespace stepsim {
namespace {

constexpr double kWidth = 760, kEdge = 16;  // width of the page, and room beside what it holds
constexpr double kLine = 18, kTitleLine = 22, kPart = 360, kSmallPart = 236, kGap = 14;
constexpr double kHalf =
    (kWidth - 2 * kEdge - kGap) / 2;  ///< width of one of two parts beside each other
/// A letter of prose takes less than one of text_width, which are digits and capitals.
constexpr double kProse = 6.8, kSmallProse = 6.3;
constexpr const char* kNoBreak = "\u00a0";  ///< a blank at which no line ends

class Page {
 public:
  explicit Page(const SweepAnswer& answer) : a_(answer) {}

  std::string svg() {
    title();
    if (a_.slices.empty() || a_.best.empty())
      nothing();
    else if (a_.axes.size() == 2 && !a_.all.empty())
      add(map_plot(a_, {kEdge, y_, kWidth - 2 * kEdge, 0}));
    else if (a_.axes.size() == 1)
      add(along(0, {kEdge, y_, kWidth - 2 * kEdge, kPart}, results_along(a_, 0)));
    else
      slices();
    const SvgPage page{kWidth, y_ + kEdge, heading(), kSweepStyles, kSweepDarkStyles};
    return svg_begin(page) + out_ + "</svg>\n";
  }

 private:
  void words(std::string text, double line, const std::string& attributes, double letter = kProse,
             double x = kEdge, double width = kWidth - 2 * kEdge) {
    for (std::size_t at = 0; (at = text.find(" %", at)) != std::string::npos; ++at)
      text.replace(at, 1, kNoBreak);
    for (const std::string& part : wrap(text, static_cast<int>(width / letter))) {
      y_ += line;
      out_ += svg_words(x, y_, "start", part, attributes);
    }
  }

  void add(const PlotPart& part) {
    out_ += part.svg;
    y_ = part.bottom;
    for (const std::string& note : part.notes) words(note, kLine, "");
  }

  PlotPart along(std::size_t axis, const PlotBox& box, const std::vector<double>& results) const {
    return holds_numbers(a_.axes[axis]) ? line_plot(a_, axis, box, results)
                                        : bar_plot(a_, axis, box);
  }

  std::string heading() const {
    std::string axes;
    for (std::size_t i = 0; i < a_.axes.size(); ++i)
      axes += fmt::format("{}{}",
                          axes.empty()             ? ""
                          : i + 1 < a_.axes.size() ? ", "
                                                   : " and ",
                          axis_title(a_.axes, i));
    std::string what = a_.objective->title;
    if (a_.objective->aim == Aim::cost)
      what += fmt::format(" of a million {}", a_.has_tokens ? "tokens" : "samples");
    what.front() = static_cast<char>(
        what.front() >= 'a' && what.front() <= 'z' ? what.front() - 'a' + 'A' : what.front());
    return fmt::format("{} over {}", what, axes);
  }

  void title() {
    words(heading(), kTitleLine, "class=\"title\"", 10);
    std::string counts =
        fmt::format("{}: {} point{}", a_.name, grouped(a_.wanted), a_.wanted == 1 ? "" : "s");
    if (a_.wanted != a_.grid) counts += fmt::format(" of a grid of {}", grouped(a_.grid));
    if (a_.done != a_.wanted) counts += fmt::format(", {} done", grouped(a_.done));
    counts += fmt::format(", {} ok", grouped(a_.ok));
    for (const StateExample& other : a_.others)
      counts += fmt::format(", {} {}", grouped(other.count), name_of(other.state));
    words(counts, kLine, "class=\"small dim\"");
    y_ += kGap;
  }

  void nothing() {
    words(a_.done == 0 ? "No point is done yet."
          : a_.ok == 0 ? "No point is ok."
                       : fmt::format("No point has a {}.", a_.objective->title),
          kTitleLine, "class=\"bold\"");
    for (const StateExample& other : a_.others) {
      const std::string reason = other.first.outcome.reason;
      words(
          fmt::format("{} {}, as {}{}{}", grouped(other.count), name_of(other.state),
                      point_title(a_.axes, other.first.point), reason.empty() ? "" : ": ", reason),
          kLine, "");
    }
  }

  /// Axes of more than one value; two beside each other, each with its words below it. All lines
  /// have the same axis of results, which shows what matters most.
  void slices() {
    words(fmt::format("Best: {} at {}.", objective_text(*a_.objective, best_result(a_)),
                      point_title(a_.axes, a_.best.front().point)),
          kLine, "class=\"bold\"");
    words("Each part changes one axis, and leaves the others at the best point.", kLine, "");
    y_ += kGap;
    std::vector<std::size_t> shown;
    std::vector<double> results;
    for (std::size_t axis = 0; axis < a_.axes.size(); ++axis) {
      if (a_.axes[axis].values.size() < 2) continue;
      shown.push_back(axis);
      if (!holds_numbers(a_.axes[axis])) continue;
      const auto of_axis = results_along(a_, axis);
      results.insert(results.end(), of_axis.begin(), of_axis.end());
    }
    for (std::size_t i = 0; i < shown.size(); i += 2) {
      const double left = slice(shown[i], kEdge, y_, results);
      const double right =
          i + 1 < shown.size() ? slice(shown[i + 1], kEdge + kHalf + kGap, y_, results) : 0;
      y_ = std::max(left, right) + 2 * kGap;
    }
  }

  /// Draws the slice along one axis; returns where it ends.
  double slice(std::size_t axis, double x, double y, const std::vector<double>& results) {
    const PlotPart part = along(axis, {x, y, kHalf, kSmallPart}, results);
    out_ += part.svg;
    const double before = std::exchange(y_, part.bottom);
    for (const std::string& note : part.notes)
      words(note, kLine - 2, "class=\"small\"", kSmallProse, x, kHalf);
    return std::exchange(y_, before);
  }

  const SweepAnswer& a_;
  double y_ = kEdge / 2;
  std::string out_;
};

}  // namespace

std::string sweep_plot(const SweepAnswer& answer) { return Page(answer).svg(); }

}  // namespace stepsim
