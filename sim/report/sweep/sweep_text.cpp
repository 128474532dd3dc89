// A sweep's answer as a screen of text.
#include <algorithm>

#include <fmt/format.h>

#include "sim/report/measure/cost.hpp"
#include "sim/report/sweep.hpp"
#include "sim/text/humanise.hpp"
#include "sim/text/page.hpp"

namespace stepsim {
namespace {

constexpr int kFigure = 14, kDistance = 10, kMfu = 9, kMemory = 11;
constexpr int kTight = 7;  // "  tight"
constexpr int kNarrowest = 80, kWidest = 120;
constexpr std::int64_t kMostLines = 32;  ///< values of a lone axis that are all shown

/// What the compute row waits for longest; nothing where it hardly waits.
std::string longest_wait(const PointNumbers& numbers) {
  std::size_t most = kCauses;
  for (std::size_t i = 0; i < kCauses; ++i) {
    const auto cause = static_cast<Cause>(i);
    const bool waits = cause > Cause::optimizer;
    if (waits && (most == kCauses || numbers.breakdown[i] > numbers.breakdown[most])) most = i;
  }
  const double share = most == kCauses ? 0 : numbers.breakdown[most] / numbers.step.seconds();
  if (share < 0.005) return "";
  return fmt::format("{} {}", title_of(static_cast<Cause>(most)), percent(share));
}

/// Whether the point fits only once PyTorch has given its fragments back.
bool is_tight(const PointNumbers& numbers) { return numbers.peak > numbers.capacity; }

class SweepPage : Page {
 public:
  SweepPage(const SweepAnswer& answer, Screen screen)
      : Page(screen, kNarrowest, kWidest), a_(answer) {}

  std::string text() {
    header();
    if (a_.axes.size() == 1 && a_.done <= kMostLines)
      along_the_axis();
    else
      best_ones();
    conclusions();
    for (const StateExample& other : a_.others) example(other);
    paragraph("Results", fmt::format("{}, view sweep_{}", a_.store, a_.view));
    return out_;
  }

 private:
  double value(const PointNumbers& numbers) const { return a_.objective->value(numbers); }
  double best_value() const { return value(*a_.best.front().outcome.numbers); }

  void header() {
    std::string grid;
    for (const SweepAxis& axis : a_.axes)
      grid +=
          fmt::format("{}{} of {}", grid.empty() ? "" : " x ", axis.values.size(), title_of(axis));
    heading(fmt::format("{}: {}", a_.name, grid));
    std::string counts = fmt::format("{} point{}", grouped(a_.wanted), a_.wanted == 1 ? "" : "s");
    if (a_.shard)
      counts = fmt::format("shard {} of {}: {} of {}", grouped(a_.shard->part),
                           grouped(a_.shard->of), grouped(a_.shard->points), counts);
    if (a_.wanted != a_.grid) counts += fmt::format(" of {}", grouped(a_.grid));
    if (a_.done != asked()) counts += fmt::format(", {} done", grouped(a_.done));
    counts += fmt::format(": {} ok", grouped(a_.ok));
    for (const StateExample& other : a_.others)
      counts += fmt::format(", {} {}", grouped(other.count), name_of(other.state));
    if (a_.alike > 0)
      counts += fmt::format("; {} lead{} to the scenario of another", grouped(a_.alike),
                            a_.alike == 1 ? "s" : "");
    wrapped(counts);
    line();
  }

  std::int64_t asked() const { return a_.shard ? a_.shard->points : a_.wanted; }

  std::string figures(const PointNumbers& n) const {
    const bool has_value = value(n) > 0;
    std::string text =
        in_column(has_value ? objective_text(*a_.objective, value(n)) : "none", kFigure);
    const bool known = !a_.best.empty() && has_value;
    text += in_column(known ? distance_text(value(n), best_value()) : "", kDistance);
    if (a_.objective->aim != Aim::mfu) text += in_column(percent(n.mfu), kMfu);
    if (a_.objective->aim != Aim::memory) text += in_column(humanise(n.peak).text(), kMemory);
    return text;
  }

  std::string heads() const {
    std::string text = pad_left(a_.objective->title, kFigure) + pad_left("", kDistance);
    if (a_.objective->aim != Aim::mfu) text += pad_left("MFU", kMfu);
    if (a_.objective->aim != Aim::memory) text += pad_left("memory", kMemory);
    return text;
  }

  /// A line of the title and what stands behind it; a long title has a line of its own.
  void row(const std::string& title, int width, const std::string& rest) {
    if (width_of(title) >= width) {
      line(title);
      line(pad_right("", width) + rest);
    } else {
      line(pad_right(title, width) + rest);
    }
  }

  void point(const SweepPoint& p, const std::string& title, int width) {
    if (!p.outcome.numbers) return row(title, width, "  " + std::string(name_of(p.outcome.state)));
    std::string rest = figures(*p.outcome.numbers);
    if (p.outcome.state != PointState::ok)
      rest += "  " + painted(screen_, Paint::red, "does not fit");
    else if (is_tight(*p.outcome.numbers))
      rest += "  " + painted(screen_, Paint::yellow, "tight");
    row(title, width, rest);
  }

  /// Every value of a lone axis, in rising order.
  void along_the_axis() {
    const SweepAxis& axis = a_.axes.front();
    std::vector<const SweepPoint*> points;
    for (const SweepPoint& p : a_.all) points.push_back(&p);
    const auto number = [&](const SweepPoint* p) {
      return axis.values[static_cast<std::size_t>(p->point)].number.value_or(0);
    };
    std::ranges::stable_sort(points,
                             [&](const auto* a, const auto* b) { return number(a) < number(b); });
    int width = width_of(axis_title(a_.axes, 0));
    for (const AxisValue& v : axis.values) width = std::max(width, width_of(text_of(v)));
    width = std::min(width + 2, screen_.width - width_of(heads()) - kTight);
    line(bold(pad_right(axis_title(a_.axes, 0), width) + heads()));
    for (const SweepPoint* p : points)
      point(*p, text_of(axis.values[static_cast<std::size_t>(p->point)]), width);
    line();
  }

  void best_ones() {
    if (a_.best.empty()) return;
    const int width = screen_.width - width_of(heads()) - kTight;
    line(bold(pad_right(fmt::format("The best {}", a_.best.size()), width) + heads()));
    for (const SweepPoint& p : a_.best) point(p, point_title(a_.axes, p.point), width);
    line();
  }

  std::string why_none() const {
    if (a_.done == 0) return "no point is done yet";
    if (a_.ok == 0) return "none: no point is ok";
    return fmt::format("none: no point has a {}{}", a_.objective->title,
                       a_.objective->aim == Aim::cost
                           ? "; state `cost: {price: 2.50 $/gpu/h}` in the scenario"
                           : "");
  }

  void conclusions() {
    if (a_.best.empty()) {
      paragraph("Best", why_none());
      return;
    }
    const SweepPoint& best = a_.best.front();
    const PointNumbers& n = *best.outcome.numbers;
    std::string text = fmt::format("{}: {} {}", point_title(a_.axes, best.point),
                                   a_.objective->title, objective_text(*a_.objective, value(n)));
    if (a_.objective->aim == Aim::cost)
      text += fmt::format(" for a million {}", a_.has_tokens ? "tokens" : "samples");
    const std::string wait = longest_wait(n);
    if (!wait.empty()) text += fmt::format("; waits most: {}", wait);
    if (is_tight(n))
      text += fmt::format("; {} of {}: it fits once cached fragments are given back",
                          humanise(n.peak).text(), humanise(n.capacity).text());
    paragraph("Best", text);
    if (!a_.unequal.empty()) paragraph("Mind", a_.unequal);
    if (a_.shard) {  // neighbours are missing
      paragraph("", "of this shard; `stepsim merge` unites the files of all");
      return;
    }
    const char* label = "Flat";
    for (std::size_t axis = 0; axis < a_.axes.size(); ++axis) {
      const std::string sentence = flatness_sentence(a_, axis);
      if (sentence.empty()) continue;
      paragraph(label, fmt::format("{} {}", axis_title(a_.axes, axis), sentence));
      label = "";
    }
  }

  void example(const StateExample& other) {
    std::string label = name_of(other.state);
    label.front() = static_cast<char>(label.front() - 'a' + 'A');
    paragraph(label,
              fmt::format("{}{}: {}", other.count > 1 ? fmt::format("{}, as ", other.count) : "",
                          point_title(a_.axes, other.first.point), other.first.outcome.reason));
  }

  const SweepAnswer& a_;
};

}  // namespace

std::string sweep_text(const SweepAnswer& answer, const Screen& screen) {
  return SweepPage(answer, screen).text();
}

}  // namespace stepsim
