// Writes an explanation as a screen of text.
#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/report/measure/explain.hpp"
#include "sim/report/measure/verdict.hpp"
#include "sim/text/humanise.hpp"
#include "sim/text/page.hpp"

namespace stepsim {
namespace {

constexpr int kTitle = 46, kTime = 10, kShare = 10;
constexpr int kNarrowest = 80, kWidest = 100;
constexpr std::size_t kPieces = 10, kListed = 4;
constexpr double kSmall = 0.0005;  // a smaller share prints as 0.0 %

struct Kind {
  ChangeKind kind;
  const char* title;
};
constexpr std::array kKinds = {
    Kind{ChangeKind::limit, "At most: without one cost altogether"},
    Kind{ChangeKind::hardware, "Other hardware"},
    Kind{ChangeKind::setting, "Other settings (--set)"},
};

class ExplanationPage : Page {
 public:
  ExplanationPage(const Explanation& explanation, Screen screen)
      : Page(screen, kNarrowest, kWidest),
        e_(explanation),
        column_(column_for(explanation.metrics.step_time)) {}

  std::string text() {
    header();
    path();
    for (const Kind& kind : kKinds) changes(kind);
    symptoms();
    if (e_.is_interrupted) {
      paragraph("Interrupted", "some changes were not simulated: no verdict without them");
    } else {
      paragraph("Verdict", e_.verdict.sentence);
      paragraph("Next", e_.verdict.next);
    }
    return out_;
  }

 private:
  double share(double seconds) const { return seconds / e_.metrics.step_time.seconds(); }

  void header() {
    const Metrics& m = e_.metrics;
    heading(fmt::format("{}: {} on {} x {}, {} a step", m.scenario, m.model, grouped(m.gpus), m.gpu,
                        humanise(m.step_time).text()));
    wrapped(split_and_attention(m));
    line();
  }

  void row(const std::string& title, double seconds, const std::string& more = "") {
    line("  " + pad_right(title, kTitle) + pad_left(column_.text(seconds), kTime) +
         pad_left(percent(share(seconds)), kShare) + (more.empty() ? "" : "  " + more));
  }

  void path() {
    line(bold("On the critical path, across ranks"));
    for (std::size_t cause = 0; cause < kCauses; ++cause) {
      const double seconds = e_.metrics.critical[cause];
      if (share(seconds) >= kSmall) row(title_of(static_cast<Cause>(cause)), seconds);
    }
    line();
    line(bold("Its longest pieces"));
    double rest = e_.metrics.step_time.seconds();
    const std::size_t shown = std::min(kPieces, e_.path.pieces.size());
    for (std::size_t i = 0; i < shown; ++i) {
      const PathPiece& piece = e_.path.pieces[i];
      rest -= piece.seconds.seconds();
      const double times = static_cast<double>(piece.times) /
                           static_cast<double>(std::max<std::size_t>(e_.metrics.steps.size(), 1));
      row(shortened(fmt::format("rank {} {}: {}", piece.rank, name_of(piece.cause), piece.task)),
          piece.seconds.seconds(),
          (times < 100 ? fmt::format("{:.3g}", times) : grouped(std::lround(times))) + " x");
    }
    if (share(rest) >= kSmall) row("everything else", rest);
    line();
  }

  static std::string shortened(std::string text) {
    if (width_of(text) > kTitle - 1) text = text.substr(0, kTitle - 4) + "...";
    return text;
  }

  void changes(const Kind& kind) {
    std::vector<std::string> in_vain;
    bool first = true;
    for (const ChangeOutcome& change : e_.changes) {
      if (change.kind != kind.kind) continue;
      const double gain = saving(e_.metrics, change.step);
      // Hardware that makes a step longer is worth a line: NICs twice as fast take more SMs for
      // NCCL.
      const bool harms = kind.kind == ChangeKind::hardware && gain <= -kSmall;
      const bool rescues =
          kind.kind == ChangeKind::setting && change.fits && !e_.metrics.memory.fits();
      if (gain < kSmall && !harms && !rescues) {
        in_vain.push_back(change.title);
        continue;
      }
      if (first)
        line(bold(pad_right(kind.title, kTitle + 2)) + bold(pad_left("step", kTime)) +
             bold(pad_left("saves", kShare)));
      first = false;
      row(change, gain);
    }
    if (first) line(bold(kind.title));
    if (in_vain.size() > kListed) {
      line(fmt::format("  {} others save nothing", in_vain.size()));
    } else if (!in_vain.empty()) {
      wrapped(fmt::format("no gain: {}", fmt::join(in_vain, ", ")), 2);
    }
    line();
  }

  void row(const ChangeOutcome& change, double gain) {
    const bool wide = width_of(change.title) >= kTitle;
    if (wide) line("  " + change.title);
    line("  " + pad_right(wide ? "" : change.title, kTitle) +
         pad_left(column_.text(change.step.seconds()), kTime) + pad_left(percent(gain), kShare) +
         (change.fits ? "" : "  " + painted(screen_, Paint::red, "does not fit")));
    if (change.contention) note(*change.contention);
  }

  /// Writes why better hardware makes a step longer.
  void note(const MoreContention& c) {
    std::string text = fmt::format("{} takes {} more", title_of(Cause::contention),
                                   column_.text(c.more.seconds()));
    if (c.held_then > c.held_now)
      text += fmt::format(": NCCL opens more channels, which hold {} of the SMs instead of {}",
                          percent(c.held_then), percent(c.held_now));
    wrapped(text, 4);
  }

  void symptoms() {
    for (const Symptom& symptom : e_.symptoms)
      paragraph("Symptom", symptom.title + ": " + symptom.evidence + price(symptom) + "; suspect " +
                               symptom.suspect);
    if (!e_.symptoms.empty()) line();
  }

  /// What a symptom costs: ", 2,764.80 $ a month".
  std::string price(const Symptom& symptom) const {
    const auto& cost = e_.metrics.cost;
    if (!cost || symptom.seconds <= Seconds{}) return "";
    return fmt::format(", {} a month", dollars(cost->month_of(share(symptom.seconds.seconds()))));
  }

  const Explanation& e_;
  Column column_;
};

}  // namespace

std::string to_table(const Explanation& explanation, const Screen& screen) {
  return ExplanationPage(explanation, screen).text();
}

}  // namespace stepsim
