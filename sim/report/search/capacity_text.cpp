// Writes a plan of capacity as a screen of text.
#include <algorithm>
#include <cmath>

#include <fmt/ranges.h>

#include "sim/report/measure/cost.hpp"
#include "sim/report/run/long_run_text.hpp"
#include "sim/report/run/memory_text.hpp"
#include "sim/report/search/capacity_report.hpp"
#include "sim/text/humanise.hpp"
#include "sim/text/page.hpp"

namespace stepsim {
namespace {

constexpr int kGpus = 8, kTime = 11, kShare = 9, kSize = 10, kSpan = 12, kMark = 2, kCost = 16;
constexpr int kNarrowest = 80, kWidest = 160;

class CapacityPage : Page {
 public:
  CapacityPage(const CapacityReport& report, Screen screen)
      : Page(screen, kNarrowest, kWidest), r_(report) {
    for (const CapacityPoint& point : r_.points) {
      if (smallest_ == nullptr && point.best() != nullptr) smallest_ = &point;
      has_run_ |= point.run().has_value();
      has_goodput_ |= point.run() && point.run()->goodput;
    }
  }

  std::string text() {
    header();
    table();
    if (r_.deadline && has_run_) deadline();
    if (r_.best) best();
    searched();
    return out_;
  }

 private:
  void header() {
    std::string text = fmt::format("{}: {} on {}, {} samples a step", r_.scenario, r_.model, r_.gpu,
                                   grouped(r_.global_batch));
    const auto with_run = std::ranges::find_if(
        r_.points, [](const CapacityPoint& point) { return point.run().has_value(); });
    if (with_run != r_.points.end()) {
      const TrainedRun& run = *with_run->run();
      text += run.tokens > 0 ? fmt::format(", {}", humanise(run.tokens, "tokens").text())
                             : fmt::format(", {} steps", grouped(std::llround(run.steps)));
    }
    for (const std::string& part : wrap(text, screen_.width)) line(bold(part));
    line();
  }

  void table() {
    std::string head = pad_left("GPUs", kGpus) + pad_left("step", kTime) + pad_left("MFU", kShare) +
                       pad_left("scaling", kShare) + pad_left("memory", kSize);
    if (has_run_) head += pad_left("training", span_width());
    if (has_goodput_) head += pad_left("goodput", kShare);
    head += pad_left(cost_title(), kCost);
    line(bold(head));
    for (const CapacityPoint& point : r_.points) row(point);
    line();
    if (smallest_ == nullptr) return;
    const Bytes capacity = r_.points.front().search.capacity;
    std::vector<std::string> notes;
    if (tight_) notes.push_back(tight_text(capacity));
    if (nearly_full_) notes.push_back(nearly_full_text(capacity));
    if (!notes.empty()) {
      paragraph("Memory", fmt::format("{}", fmt::join(notes, "; ")));
      line();
    }
    paragraph("*", fmt::format("no other size is as good in GPUs, time and {}, and better in one "
                               "of them",
                               r_.dollars_per_hour ? "dollars" : "GPU hours"));
    line();
  }

  std::string cost_title() const {
    if (!r_.dollars_per_hour) return has_run_ ? "GPU hours" : "GPU s a step";
    return has_run_ ? "cost" : "cost a step";
  }

  std::string cost_text(const CapacityPoint& point) const {
    if (has_run_ && !point.run()) return "";
    const double cost = cost_of(point, r_);
    if (r_.dollars_per_hour) return dollars(cost);
    return has_run_ ? grouped(std::llround(cost)) : three_digits(cost * 3600);
  }

  /// The throughput of a GPU over that of a GPU at the smallest size.
  double scaling(const CapacityPoint& point) const {
    return smallest_->best()->step.seconds() * smallest_->search.gpus /
           (point.best()->step.seconds() * point.search.gpus);
  }

  void row(const CapacityPoint& point) {
    const std::string gpus =
        pad_left(grouped(point.search.gpus) + (point.on_front ? " *" : "  "), kGpus);
    const StrategyOutcome* best = point.best();
    if (best == nullptr) return nothing(gpus, point.search);
    tight_ |= is_tight(*best, point.search.capacity);
    nearly_full_ |= is_nearly_full(best->peak, point.search.capacity);
    std::string text = gpus + in_column(humanise(best->step).text(), kTime) +
                       in_column(percent(best->mfu), kShare) +
                       in_column(percent(scaling(point)), kShare) +
                       in_column(humanise(best->peak).text(), kSize);
    if (has_run_) text += in_column(span_of(point), span_width());
    if (has_goodput_)
      text += in_column(point.run() && point.run()->goodput ? percent(*point.run()->goodput) : "",
                        kShare);
    line(text + in_column(cost_text(point), kCost));
    const std::string lead(kGpus + 2, ' ');
    for (const std::string& part :
         wrap(strategy_text(point.search.listed.front().strategy), screen_.width - kGpus - 2))
      line(lead + painted(screen_, Paint::dim, part));
  }

  int span_width() const { return r_.deadline ? kSpan + kMark : kSpan; }

  /// The time of the training, with a mark that says whether it is in time.
  std::string span_of(const CapacityPoint& point) const {
    if (!point.run()) return "";
    std::string span = span_text(point.run()->wall);
    if (!r_.deadline) return span;
    return span + (*in_time(point, *r_.deadline) ? " ✓" : " ✗");
  }

  void nothing(const std::string& gpus, const SearchReport& search) {
    const SearchOutcome& outcome = search.outcome;
    const bool all = outcome.counts.left == 0 && outcome.is_whole;
    const bool divides = outcome.counts.considered > outcome.counts.refused;
    line(gpus + (!all ? "  nothing found"
                 : divides
                     ? "  nothing fits"
                     : "  nothing fits together" + undivided_text(r_.global_batch, search.gpus)));
    if (!all || !outcome.smallest) return;
    const std::string lead(kGpus + 2, ' ');
    for (const std::string& part :
         wrap(closest_text(outcome, search.capacity), screen_.width - kGpus - 2))
      line(lead + painted(screen_, Paint::dim, part));
  }

  void deadline() {
    paragraph("Deadline", deadline_text(r_));
    line();
  }

  void best() {
    const CapacityPoint& point = r_.points[*r_.best];
    paragraph("Best", fmt::format("{} GPUs, {}{}", grouped(point.search.gpus),
                                  r_.objective == "gpus" ? "the fewest" : "by " + r_.objective,
                                  r_.deadline ? " of those in time" : ""));
    labelled("Run", shell_lines(point.search.commands.front(), screen_.width - kLabel));
    line();
  }

  void searched() {
    SearchCounts sum;
    std::string unproven, reasons, failures, no_run;
    for (const CapacityPoint& point : r_.points) {
      const SearchCounts& c = point.search.outcome.counts;
      sum.considered += c.considered;
      sum.refused += c.refused;
      sum.too_large += c.too_large + c.no_memory;
      sum.pruned += c.pruned;
      sum.simulated += c.simulated;
      sum.left += c.left;
      sum.failed += c.failed;
      const SearchOutcome& o = point.search.outcome;
      if (no_run.empty()) no_run = point.search.no_run;
      if (failures.empty()) failures = failures_text(o);
      if (o.proven()) continue;
      unproven += fmt::format("{}{} ({} left{}{})", unproven.empty() ? "" : ", ",
                              grouped(point.search.gpus), grouped(c.left),
                              c.open > 0 ? fmt::format(", {} failed", grouped(c.open)) : "",
                              c.below_bound > 0 ? ", wrong bounds" : "");
      const std::string reason = end_text(o);
      if (!reason.empty() && reasons.find(reason) == std::string::npos) reasons += "; " + reason;
    }
    paragraph("Searched", counts_text(sum));
    if (!failures.empty()) paragraph("Failed", failures);
    if (!no_run.empty()) paragraph("Training", "not known: " + no_run);
    if (!r_.not_searched.empty())
      paragraph("Not searched",
                fmt::format("{} GPUs: interrupted", fmt::join(r_.not_searched, ", ")));
    if (!unproven.empty()) {
      paragraph("Not proven", "for " + unproven + " GPUs" + reasons);
    } else if (smallest_ != nullptr) {
      paragraph("Proven", "on each number of GPUs no other strategy of these is faster");
    }
  }

  const CapacityReport& r_;
  const CapacityPoint* smallest_ = nullptr;
  bool has_run_ = false, has_goodput_ = false, tight_ = false, nearly_full_ = false;
};

}  // namespace

std::string capacity_text(const CapacityReport& report, const Screen& screen) {
  return CapacityPage(report, screen).text();
}

}  // namespace stepsim
