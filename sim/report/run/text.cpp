// The result as one screen of text: what, how fast, where the time goes, what to do about it.
#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "sim/report/measure/straggler.hpp"
#include "sim/report/run/likely_error_text.hpp"
#include "sim/report/run/long_run_text.hpp"
#include "sim/report/run/memory_text.hpp"
#include "sim/report/run/run_report.hpp"
#include "sim/text/humanise.hpp"
#include "sim/text/page.hpp"

namespace stepsim {
namespace {

constexpr int kNumber = 5;  ///< width of a number of three digits
constexpr int kUnit = 13;   ///< width of the unit behind a number, and of the space behind the unit
constexpr int kTitle = 37;  ///< width of the longest title of a cause
constexpr int kTime = 10;   ///< width of a time or a size in a column
constexpr int kShare = 10;  ///< width of a percentage in a column
constexpr int kNarrowest = 72;     ///< width that the columns need
constexpr int kWidest = 100;       ///< a longer line is slower to read
constexpr double kSmall = 0.0005;  ///< smaller shares print as 0.0 %
/// More causes than that would leave no room for the rest of the report.
constexpr std::size_t kCauseLines = 9;

constexpr std::size_t kSides = 3;  ///< sides of the calibrated range that are named

/// A screen while it is written.
class RunPage : Page {
 public:
  RunPage(const Metrics& metrics, Screen screen)
      : Page(screen, kNarrowest, kWidest), m_(metrics), column_(column_for(metrics.step_time)) {}

  std::string text(const std::vector<ExpectationOutcome>& expectations) {
    header();
    speed();
    breakdown();
    communication();
    memory();
    cost();
    energy();
    long_run();
    outside_range();
    faults();
    verdict();
    expected(expectations);
    assumed();
    likely_error();
    engine();
    return out_;
  }

 private:
  /// Adds a label, an aligned number with its unit, and details behind.
  void figure(std::string_view label, const Figure& value, const std::string& details) {
    const std::string number = pad_left(value.number, kNumber);
    const int indent = kLabel + kNumber + 1 + kUnit;
    const std::string unit = details.empty() ? value.unit : pad_right(value.unit, kUnit);
    beside(bold(pad_right(label, kLabel) + number) + " " + unit, indent, details);
  }

  void header() {
    const std::string machine = fmt::format("{} on {} x {} ({} node{})", m_.model, grouped(m_.gpus),
                                            m_.gpu, grouped(m_.nodes), m_.nodes == 1 ? "" : "s");
    heading(m_.scenario + ": " + machine);
    wrapped(split_and_attention(m_));
    line();
  }

  void speed() {
    figure("Step time", {column_.number(m_.step_time.seconds()), column_.unit}, spread());
    chaos();
    replicas();
    if (m_.has_tokens) {
      figure("Throughput", humanise(m_.tokens_per_s, "tokens/s"),
             fmt::format("{} per GPU, {}", humanise(m_.tokens_per_s_per_gpu, "tokens/s").text(),
                         humanise(m_.samples_per_s, "samples/s").text()));
    } else {
      const std::string unit = m_.samples + "/s";
      figure("Throughput", humanise(m_.samples_per_s, unit),
             humanise(m_.samples_per_s / m_.gpus, unit).text() + " per GPU");
    }
    figure("Model FLOPs", {three_digits(m_.model_tflops_per_gpu), "TFLOP/s"},
           m_.flop_convention.empty() ? "per GPU" : "per GPU, " + m_.flop_convention);
    figure("MFU", {fmt::format("{:.1f}", 100 * m_.mfu), "%"},
           fmt::format("HFU {} (recomputation counted as work)", percent(m_.hfu)));
    line();
  }

  /// Where the digits of the step say less than they seem to.
  void chaos() {
    if (!m_.chaos) return;
    paragraph("Beware",
              fmt::format("transfers meet all the time, so that the last digit of a link's rate "
                          "moves the step: it is from {} to {} in {} runs whose links differ by "
                          "1e-12",
                          column_.text(m_.chaos->least.seconds()),
                          column_.text(m_.chaos->most.seconds()), m_.chaos->runs));
  }

  void replicas() {
    if (!m_.replicas) return;
    const Statistics& s = m_.replicas->statistics;
    const std::string interval =
        s.count < 2 ? "" : fmt::format(" ± {}", column_.text(s.confidence.seconds()));
    const std::string done = s.count == m_.replicas->asked
                                 ? grouped(s.count)
                                 : fmt::format("{} of {}", s.count, m_.replicas->asked);
    paragraph("Replicas",
              fmt::format("{}: mean {}{}, median {}, p95 {}, from {} to {}; what stands here is "
                          "the one in the middle",
                          done, column_.text(s.mean.seconds()), interval,
                          column_.text(s.median.seconds()), column_.text(s.p95.seconds()),
                          column_.text(s.least.seconds()), column_.text(s.most.seconds())));
  }

  /// How many steps were measured and how far they lie apart. Where they could not be run, it says
  /// that first.
  std::string spread() const {
    if (!m_.memory.stages.empty() && !m_.memory.fits()) return "if it fitted in memory: see below";
    if (m_.steps.empty()) return "";
    if (m_.steps.size() == 1) return "1 step";
    const auto [least, most] = std::ranges::minmax_element(m_.steps);
    if (*most - *least <= 1e-6 * *most) return fmt::format("{} steps, all alike", m_.steps.size());
    return fmt::format("mean of {} steps from {} to {}", m_.steps.size(),
                       column_.text(least->seconds()), column_.text(most->seconds()));
  }

  static bool is_work(std::size_t cause) {
    return cause <= static_cast<std::size_t>(Cause::contention);
  }

  void breakdown() {
    std::string title =
        fmt::format("Where the step goes on stage {}, the slowest", m_.slowest_stage);
    if (m_.memory.stages.size() < 2) title = "Where the step goes";
    const std::string legend = "█ working  ░ waiting";
    line(bold(pad_right(title, screen_.width - width_of(legend))) + dim(legend));
    const std::vector<std::size_t> shown = shown_causes();
    const double longest = *std::ranges::max_element(m_.breakdown);
    double rest = std::accumulate(m_.breakdown.begin(), m_.breakdown.end(), 0.0);
    const double sum = rest;
    for (const std::size_t i : shown) {
      const double seconds = m_.breakdown[i];
      rest -= seconds;
      line(cause(title_of(static_cast<Cause>(i)), seconds) + "  " + bar(i, seconds / longest));
    }
    if (share_of_step(rest) >= kSmall) line(cause("everything else", rest));
    line(bold(cause("step", sum)));
    line();
  }

  /// The largest causes, in the order of the enum; the others share one line.
  std::vector<std::size_t> shown_causes() const {
    std::vector<std::size_t> shown;
    for (std::size_t i = 0; i < kCauses; ++i) {
      if (m_.breakdown[i] > 0 && share_of_step(m_.breakdown[i]) >= kSmall) shown.push_back(i);
    }
    const auto larger = [&](std::size_t a, std::size_t b) {
      return m_.breakdown[a] > m_.breakdown[b];
    };
    std::ranges::stable_sort(shown, larger);
    if (shown.size() > kCauseLines) shown.resize(kCauseLines);
    std::ranges::sort(shown);
    return shown;
  }

  double share_of_step(double seconds) const {
    return m_.step_time > Seconds{} ? seconds / m_.step_time.seconds() : 0;
  }

  std::string cause(std::string_view title, double seconds) const {
    return "  " + pad_right(title, kTitle) + pad_left(column_.text(seconds), kTime) +
           pad_left(percent(share_of_step(seconds)), kShare);
  }

  std::string bar(std::size_t cause, double share) const {
    const int width = screen_.width - 2 - kTitle - kTime - kShare - 2;
    return is_work(cause) ? painted(screen_, Paint::green, solid_bar(share, width))
                          : painted(screen_, Paint::yellow, shaded_bar(share, width));
  }

  void communication() {
    if (!m_.communication.empty()) {
      line(bold(pad_right("Communication per GPU", 25) + pad_left("payload", kTime) +
                pad_left("busy", kTime) + pad_left("exposed", kTime) + pad_left("hidden", kTime)));
    }
    for (const GroupCommunication& group : m_.communication) {
      line("  " + pad_right(name_of(group.axis), 23) +
           pad_left(humanise(group.bytes).text(), kTime) +
           pad_left(column_.text(group.busy.seconds()), kTime) +
           pad_left(column_.text(group.exposed.seconds()), kTime) +
           pad_left(column_.text(group.hidden.seconds()), kTime) +
           pad_left(percent(group.busy > Seconds{} ? group.hidden / group.busy : 0), kShare));
    }
    const std::string overlap =
        m_.communication.empty()
            ? ""
            : fmt::format("Overlap efficiency {}   ", percent(m_.overlap_efficiency));
    line(fmt::format("{}Pipeline bubble {}   Data stall {}", overlap, percent(m_.bubble_fraction),
                     percent(m_.data_stall_fraction)));
    line();
  }

  /// "55.9 of 80.0 GiB".
  std::string of_capacity(Bytes used) const {
    const Figure needs = humanise(used), has = humanise(m_.memory.capacity);
    return fmt::format("{} of {}", needs.unit == has.unit ? needs.number : needs.text(),
                       has.text());
  }

  void memory() {
    if (m_.memory.stages.empty()) return;
    const StageMemory& worst = m_.memory.worst();
    const bool fits = m_.memory.fits();
    const bool one_stage = m_.memory.stages.size() == 1;
    paragraph("Memory",
              fmt::format("{}: {} needs {} in {}: {}",
                          m_.memory.tight() ? "fits once cached fragments are given back"
                          : fits            ? "fits"
                                            : "does not fit",
                          one_stage ? "each GPU" : fmt::format("stage {}", worst.stage),
                          of_capacity(worst.total()), moment_of(worst.peak, m_.memory.chunks > 1),
                          categories_of(worst)),
              fits ? Paint::bold : Paint::red);
    const std::string full = full_memory_text(worst.total(), m_.memory.capacity);
    if (fits && !full.empty()) paragraph("", "beware, it " + full);
    line();
  }

  void cost() {
    if (!m_.cost) return;
    const RunCost& c = *m_.cost;
    const bool tokens = c.per_million_tokens > 0;
    paragraph(
        "Cost",
        fmt::format("{} an hour: {} a step, {} a day, {} per million {}; GPUs wait {} of their "
                    "time: {} a month",
                    dollars(c.per_hour), dollars(c.per_step), dollars(c.per_day),
                    dollars(tokens ? c.per_million_tokens : c.per_million_samples),
                    tokens ? "tokens" : m_.samples, percent(c.wasted_fraction),
                    dollars(c.wasted_per_month())));
    line();
  }

  /// Beside what a run costs, or where somebody asked for it.
  void energy() {
    if (!m_.energy || (!m_.cost && !m_.long_run && !m_.energy->stated.is_stated())) return;
    const RunEnergy& e = *m_.energy;
    const Seconds day{86400};
    const std::string assumed = assumed_energy_text(e);
    paragraph("Energy",
              fmt::format("{} a step; {} a day ({} to {}), {} of CO2e; boards draw {:.0f} W of "
                          "{:.0f}, {:.0f} W a GPU with hosts and cooling{}{}",
                          energy_text(e.kwh(m_.step_time)), energy_text(e.kwh(day)),
                          energy_text(e.kwh(day * (e.least.value / e.facility().value))),
                          energy_text(e.kwh(day * (e.most.value / e.facility().value))),
                          carbon_text(e.kg_of_co2e(e.kwh(day))), e.board.value, e.limit.value,
                          e.facility().value, assumed.empty() ? "" : "; ", assumed));
    line();
  }

  void long_run() {
    if (m_.checkpoint) paragraph("Checkpoint", checkpoint_text(m_));
    if (m_.long_run) {
      const std::vector<std::string> parts = long_run_text(m_);
      for (std::size_t i = 0; i < parts.size(); ++i) paragraph(i == 0 ? "Long run" : "", parts[i]);
    }
    if (m_.checkpoint || m_.long_run) line();
  }

  void outside_range() {
    double share = 0;
    for (const OutsideRange& side : m_.outside_range) share += side.time / m_.step_time;
    if (share < kSmall) return;
    std::string sides;
    for (std::size_t i = 0; i < std::min(m_.outside_range.size(), kSides); ++i) {
      const OutsideRange& side = m_.outside_range[i];
      sides += (sides.empty() ? "" : ", ") + side.side;
      // A lone side needs no share: the sentence begins with it.
      if (m_.outside_range.size() > 1)
        sides += fmt::format(" ({})", percent(side.time / m_.step_time));
    }
    if (m_.outside_range.size() > kSides) sides += ", ...";
    paragraph("Range", fmt::format("{} of the step is outside the calibrated range: {}",
                                   percent(share), sides));
    line();
  }

  /// Adds what the verdict does not say already.
  void faults() {
    const bool known = m_.verdict.sentence.starts_with("straggler");
    if (!m_.stragglers.empty() && !known) paragraph("Straggler", straggler_sentence(m_));
    std::string costs;
    for (const FaultCost& cost : m_.fault_costs) {
      costs += fmt::format("{} {} {} ({:+.1f} %)", costs.empty() ? "the step without" : ", without",
                           cost.title, column_.text(cost.without.seconds()),
                           100 * (cost.without / m_.step_time - 1));
    }
    if (!costs.empty()) paragraph("Faults", costs);
    if (!costs.empty() || !m_.stragglers.empty()) line();
  }

  void verdict() {
    if (m_.verdict.sentence.empty()) return;
    paragraph("Verdict", m_.verdict.sentence);
    if (!m_.verdict.next.empty()) paragraph("Next", m_.verdict.next);
    line();
  }

  void expected(const std::vector<ExpectationOutcome>& expectations) {
    if (expectations.empty()) return;
    int widest = 0;
    for (const ExpectationOutcome& outcome : expectations)
      widest = std::max(widest, width_of(outcome.text));
    std::string label = "Expected";
    for (const ExpectationOutcome& outcome : expectations) {
      const std::string mark =
          outcome.holds ? painted(screen_, Paint::green, "✓") : painted(screen_, Paint::red, "✗");
      line(bold(pad_right(label, kLabel)) + mark + " " + pad_right(outcome.text, widest) + "   " +
           outcome.actual);
      label.clear();
    }
    line();
  }

  void assumed() {
    if (m_.assumed.empty()) return;
    std::string keys;
    for (const AssumedKey& a : m_.assumed)
      keys += fmt::format("{}{} {}", keys.empty() ? "" : ", ", a.key, a.value);
    paragraph("Assumed", keys + "; nobody stated it: --set KEY=VALUE does");
  }

  void likely_error() {
    if (m_.expected_error)
      paragraph("Likely error", likely_error_text(*m_.expected_error, m_.step_time));
  }

  void engine() {
    const EngineStats& e = m_.engine;
    const bool all = e.ranks_simulated == e.ranks_total;
    line(dim(fmt::format(
        "Simulated {} of {} rank{}, {} events.", grouped(e.ranks_simulated), grouped(e.ranks_total),
        all ? (e.ranks_total == 1 ? "" : "s") : "s (the others behave alike)", grouped(e.events))));
    if (e.ranks_unrecorded > 0)
      line(
          dim(fmt::format("Causes are those of {} of them: what {} others did is too much to keep.",
                          grouped(e.ranks_recorded), grouped(e.ranks_unrecorded))));
  }

  const Metrics& m_;
  Column column_;  ///< unit of every time that is part of the step
};

}  // namespace

std::string to_table(const Metrics& metrics, const std::vector<ExpectationOutcome>& expectations,
                     const Screen& screen) {
  return RunPage(metrics, screen).text(expectations);
}

}  // namespace stepsim
