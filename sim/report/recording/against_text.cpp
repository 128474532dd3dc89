// Writes a prediction beside a recording: as a page, and as JSON.
#include <cmath>

#include <fmt/format.h>

#include "sim/report/json_number.hpp"
#include "sim/report/recording/against.hpp"
#include "sim/text/humanise.hpp"
#include "sim/text/page.hpp"

namespace stepsim {
namespace {

constexpr int kTitle = 42, kTime = 12, kNarrowest = 80, kWidest = 100;
constexpr double kSmall = 0.0005;  // a smaller share prints as 0.0 %

class AgainstPage : Page {
 public:
  AgainstPage(const RecordedComparison& comparison, Screen screen)
      : Page(screen, kNarrowest, kWidest),
        it_(comparison),
        column_(column_for(
            Seconds{std::max(comparison.predicted.step_s, comparison.recorded.step_s)})) {}

  std::string text() {
    heading(fmt::format("{} against {}", it_.scenario, it_.recording));
    const double more = it_.recorded.step_s - it_.predicted.step_s;
    wrapped(fmt::format(
        "a step takes {} and not {}: {:+.1f} %", humanise(Seconds{it_.recorded.step_s}).text(),
        humanise(Seconds{it_.predicted.step_s}).text(), 100 * more / it_.predicted.step_s));
    if (it_.recorded.mfu > 0)
      wrapped(fmt::format("MFU {} and not {}, by the scenario's FLOPs and GPU",
                          percent(it_.recorded.mfu), percent(it_.predicted.mfu)));
    line();
    by_cause();
    differences();
    launches();
    for (std::size_t i = 0; i < it_.not_known.size(); ++i)
      paragraph(i == 0 ? "Not known" : "", it_.not_known[i]);
    return out_;
  }

 private:
  void titles(std::string_view title) {
    line(bold(pad_right(title, kTitle + 2)) + bold(pad_left("predicted", kTime)) +
         bold(pad_left("recorded", kTime)) + bold(pad_left("difference", kTime)));
  }

  std::string signed_text(double seconds) const {
    return (seconds > 0 ? "+" : "") + column_.text(seconds);
  }

  void row(const std::string& title, double predicted, double recorded) {
    line("  " + pad_right(title, kTitle) + pad_left(column_.text(predicted), kTime) +
         pad_left(column_.text(recorded), kTime) +
         pad_left(signed_text(recorded - predicted), kTime));
  }

  bool counts(double predicted, double recorded) const {
    return std::max(predicted, recorded) >= kSmall * it_.recorded.step_s;
  }

  void by_cause() {
    titles("By cause");
    for (std::size_t i = 0; i < kCauses; ++i) {
      const double predicted = it_.predicted.causes[i], recorded = it_.recorded.causes[i];
      if (counts(predicted, recorded)) row(title_of(static_cast<Cause>(i)), predicted, recorded);
    }
    if (counts(0, it_.recorded.not_known_s)) row("not known", 0, it_.recorded.not_known_s);
    row("step", it_.predicted.step_s, it_.recorded.step_s);
    line();
  }

  void differences() {
    titles("Where the difference is, the largest first");
    double shown = 0;
    for (const StepDifference& one : it_.differences) {
      if (std::abs(one.difference_s()) < kSmall * it_.recorded.step_s) continue;
      row(one.title, one.predicted_s, one.recorded_s);
      shown += one.difference_s();
      if (!one.remark.empty()) wrapped(one.remark, 4);
    }
    const double all = it_.recorded.step_s - it_.predicted.step_s;
    if (std::abs(all - shown) >= kSmall * it_.recorded.step_s)
      line("  " + pad_right("all others", kTitle + 2 * kTime) +
           pad_left(signed_text(all - shown), kTime));
    line("  " + pad_right("all", kTitle + 2 * kTime) + pad_left(signed_text(all), kTime));
    line();
  }

  void launches() {
    if (it_.recorded.launches <= 0) return;
    std::string text = fmt::format("a step launches {} kernels, the prediction has {}",
                                   grouped(std::llround(it_.recorded.launches)),
                                   grouped(std::llround(it_.predicted.launches)));
    if (it_.layers > 0)
      text += fmt::format(": {:.1f} and {:.1f} a layer", it_.recorded.launches / it_.layers,
                          it_.predicted.launches / it_.layers);
    wrapped(text);
    line();
  }

  const RecordedComparison& it_;
  Column column_;
};

Json account_json(const StepAccount& account) {
  Json causes = causes_json(account.causes);
  causes["not_known"] = number(account.not_known_s);
  Json families = Json::object();
  for (std::size_t i = 0; i < kFamilies; ++i)
    families[name_of(static_cast<KernelFamily>(i))] = {
        {"seconds", number(account.families[i].seconds)},
        {"launches", number(account.families[i].launches)}};
  return {{"step_time_s", number(account.step_s)},
          {"mfu", number(account.mfu)},
          {"breakdown_s", causes},
          {"kernels", families},
          {"launches", number(account.launches)}};
}

Json difference_json(const StepDifference& one) {
  return {{"name", one.name},
          {"title", one.title},
          {"predicted_s", number(one.predicted_s)},
          {"recorded_s", number(one.recorded_s)},
          {"difference_s", number(one.difference_s())},
          {"remark", text_or_null(one.remark)}};
}

}  // namespace

std::string to_table(const RecordedComparison& comparison, const Screen& screen) {
  return AgainstPage(comparison, screen).text();
}

std::string to_json(const RecordedComparison& comparison) {
  return json_text(
      {{"schema", "stepsim.recorded_comparison/1"},
       {"scenario", comparison.scenario},
       {"recording", comparison.recording},
       {"predicted", account_json(comparison.predicted)},
       {"recorded", account_json(comparison.recorded)},
       {"difference_s", number(comparison.recorded.step_s - comparison.predicted.step_s)},
       {"layers", comparison.layers > 0 ? number(comparison.layers) : Json()},
       {"differences", list_json(comparison.differences, difference_json)},
       {"not_known", comparison.not_known}});
}

}  // namespace stepsim
