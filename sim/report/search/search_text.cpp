// Writes a search as a screen of text.
#include <algorithm>
#include <cmath>

#include <fmt/ranges.h>

#include "sim/report/measure/cost.hpp"
#include "sim/report/run/long_run_text.hpp"
#include "sim/report/run/memory_text.hpp"
#include "sim/report/search/search_report.hpp"
#include "sim/text/humanise.hpp"
#include "sim/text/page.hpp"

namespace stepsim {
namespace {

constexpr int kRank = 4, kTime = 10, kAgainst = 10, kSize = 11, kShare = 8, kGap = 2;
constexpr int kNarrowest = 80, kWidest = 160;
constexpr std::size_t kNamed = 3;
constexpr double kSmall = 0.002;  // a smaller share of a step is not worth naming
/// A step so many times as long as the best leaves the best too few digits in their unit.
constexpr double kFarApart = 100;
constexpr double kTimes = 10;    // a step so many times as long is said as a factor
constexpr double kAlike = 1.01;  // a factor between steps that no prediction can tell apart

/// The ranking in order of time, but those within 1 % of the fastest first, in order of memory.
std::vector<TriedStrategy> by_time_and_memory(std::vector<TriedStrategy> ranked) {
  if (ranked.empty()) return ranked;
  const Seconds fastest = ranked.front().outcome.step;
  const auto last = std::ranges::find_if(
      ranked, [&](const TriedStrategy& other) { return other.outcome.step > fastest * kAlike; });
  std::stable_sort(ranked.begin(), last, [](const TriedStrategy& a, const TriedStrategy& b) {
    return a.outcome.peak < b.outcome.peak;
  });
  return ranked;
}

bool differ_in_bucket_alone(Strategy a, const Strategy& b) {
  a.bucket = b.bucket;
  return a == b;
}

class SearchPage : Page {
 public:
  SearchPage(const SearchReport& report, Screen screen)
      : Page(screen, kNarrowest, kWidest),
        r_(report),
        column_(step_column(report.outcome, report.own)) {}

  std::string text() {
    header();
    if (r_.listed.empty()) {
      nothing();
    } else {
      best();
      table();
    }
    searched();
    return out_;
  }

 private:
  void header() {
    for (const std::string& part :
         wrap(fmt::format("{}: {} on {} x {}, {} samples a step", r_.scenario, r_.model,
                          grouped(r_.gpus), r_.gpu, grouped(r_.global_batch)),
              screen_.width))
      line(bold(part));
    line();
  }

  void best() {
    const TriedStrategy& b = r_.listed.front();
    paragraph("Best", fmt::format("{} a step, MFU {}, {} of {}{}", time_text(b.outcome.step),
                                  percent(b.outcome.mfu), humanise(b.outcome.peak).text(),
                                  humanise(r_.capacity).text(),
                                  is_tight(b.outcome, r_.capacity)
                                      ? ": it fits once cached fragments are given back"
                                      : ""));
    paragraph("", degrees_text(b.strategy));
    paragraph("", choices_text(b.strategy));
    const auto& fastest = *std::ranges::min_element(
        r_.listed, {}, [](const TriedStrategy& tried) { return tried.outcome.step; });
    if (fastest.outcome.step < b.outcome.step)
      paragraph("", fmt::format("of those within 1 % of {} it leaves the most room",
                                time_text(fastest.outcome.step)));
    const std::string full = full_memory_text(b.outcome.peak, r_.capacity);
    if (!full.empty()) paragraph("Memory", "the best " + full);
    if (r_.own && r_.own->fits) paragraph("Against", against(b));
    if (!r_.frameworks.empty()) paragraph("Runs on", frameworks_text(r_.frameworks));
    if (r_.run) paragraph("Training", trained_text(*r_.run, r_.gpus, r_.dollars_per_hour));
    if (!r_.no_run.empty()) paragraph("Training", "not known: " + r_.no_run);
    if (r_.run && r_.deadline)
      paragraph("Deadline", in_time_text(r_.run->wall, *r_.deadline) +
                                (r_.run->goodput ? "" : kWithoutFailures));
    labelled("Run", shell_lines(r_.commands.front(), screen_.width - kLabel));
    line();
  }

  std::string against(const TriedStrategy& b) const {
    if (b.is_own) return "it is the scenario's own";
    const double own = r_.own->step.seconds(), step = b.outcome.step.seconds();
    const std::string by =
        step > own ? percent(step / own - 1) + " more" : percent(1 - step / own) + " less";
    std::string text = fmt::format("the scenario's own, {}: {}", time_text(r_.own->step), by);
    if (r_.own->peak > r_.usable)
      text += fmt::format(", and it fills {} of the memory", percent(r_.own->peak / r_.capacity));
    return r_.reason ? text + "; it " + reason_text(*r_.reason) : text;
  }

  std::string time_text(Seconds time) const { return column_.text(time); }

  static std::string over_text(double over) {
    if (std::abs(over) < 5e-5) return "";
    if (over < 0) return fmt::format("{:.1f} %", over * 100);
    if (over + 1 < kTimes) return fmt::format("+{:.1f} %", over * 100);
    return fmt::format("x {}", three_digits(over + 1));
  }

  void row(const std::string& rank, const Strategy& strategy, const StrategyOutcome& o) {
    const double step = o.step.seconds(), first = r_.listed.front().outcome.step.seconds();
    const double over = step / first - 1;
    tight_ |= is_tight(o, r_.capacity);
    nearly_full_ |= is_nearly_full(o.peak, r_.capacity);
    std::string lead = pad_left(rank, kRank) + in_column(time_text(o.step), kTime) +
                       in_column(over_text(over), kAgainst) +
                       in_column(humanise(o.peak).text(), kSize) +
                       in_column(percent(o.mfu), kShare);
    const int used = kRank + kTime + kAgainst + kSize + kShare + kGap;
    for (const std::string& part : wrap(strategy_text(strategy), screen_.width - used)) {
      line(fmt::format("{}{:{}}{}", lead, "", kGap, part));
      lead = std::string(used - kGap, ' ');
    }
  }

  void table() {
    line(bold(pad_left("", kRank) + pad_left("step", kTime) + pad_left("to best", kAgainst) +
              pad_left("memory", kSize) + pad_left("MFU", kShare) + std::string(kGap, ' ') +
              "strategy"));
    bool has_own = false;
    for (std::size_t i = 0; i < r_.listed.size(); ++i) {
      const TriedStrategy& tried = r_.listed[i];
      has_own |= tried.is_own;
      row(tried.is_own ? "own" : fmt::format("{}", i + 1), tried.strategy, tried.outcome);
    }
    for (const TriedStrategy& tried : r_.outcome.ranked) {
      if (tried.is_own && !has_own) row("own", tried.strategy, tried.outcome);
    }
    line();
    const StrategyOutcome& first = r_.listed.front().outcome;
    std::vector<std::string> notes;
    if (tight_ && !is_tight(first, r_.capacity)) notes.push_back(tight_text(r_.capacity));
    if (nearly_full_ && !is_nearly_full(first.peak, r_.capacity))
      notes.push_back(nearly_full_text(r_.capacity));
    if (notes.empty()) return;
    paragraph("Memory", fmt::format("{}", fmt::join(notes, "; ")));
    line();
  }

  void nothing() {
    if (r_.outcome.smallest && r_.outcome.counts.left == 0 && r_.outcome.is_whole) {
      paragraph("Nothing fits",
                closest_text(r_.outcome, r_.capacity) +
                    (r_.is_restricted ? ". Other values of --only, more GPUs" : ". More GPUs") +
                    " (--gpus), an optimizer on the host (--set "
                    "parallelism.data.offload_optimizer=true training.optimizer_kernels=fused), "
                    "adapters alone (--set training.lora.rank=16) or GPUs with more memory would "
                    "help");
    } else {
      paragraph("Nothing found", nothing_text());
    }
    line();
  }

  std::string nothing_text() const {
    const SearchCounts& c = r_.outcome.counts;
    if (c.simulated + c.failed + c.no_memory > 0)
      return "no strategy that was simulated has an answer";
    return r_.outcome.is_whole && c.left == 0
               ? "no strategy fits together" + undivided_text(r_.global_batch, r_.gpus)
               : "no strategy has been simulated yet";
  }

  void searched() {
    const SearchOutcome& o = r_.outcome;
    paragraph("Searched", counts_text(o.counts));
    if (r_.own && !r_.own->failure.empty())
      paragraph("Own", "the scenario's own strategy failed: " + r_.own->failure);
    if (o.counts.failed > 0) paragraph("Failed", failures_text(o));
    if (o.counts.below_bound > 0)
      paragraph("Defect", fmt::format("{} of those that were simulated are faster than their "
                                      "bounds: the bounds are wrong, please report this",
                                      grouped(o.counts.below_bound)));
    if (r_.listed.empty() && o.end == SearchEnd::complete) return;
    if (o.proven()) {
      paragraph("Proven", o.ranked.front().outcome.step < r_.listed.front().outcome.step
                              ? "no other strategy of these is faster by more than 1 %"
                              : "no other strategy of these is faster");
      return;
    }
    std::vector<std::string> why;
    if (!end_text(o).empty()) why.push_back(end_text(o));
    if (o.counts.left > 0 && !r_.listed.empty() && o.is_whole) {
      const double gain = 1 - o.least_left / o.ranked.front().outcome.step;
      why.push_back(
          fmt::format("those that are left have bounds from {} on: none of them is faster than "
                      "the best by more than {}",
                      time_text(o.least_left), percent(gain)));
    }
    if (!o.is_whole) why.emplace_back("not every strategy was looked at");
    if (o.counts.open > 0)
      why.push_back(
          fmt::format("{} that failed could be faster by their bounds", grouped(o.counts.open)));
    if (o.counts.below_bound > 0) why.emplace_back("the bounds are wrong");
    paragraph("Not proven", fmt::format("{}", fmt::join(why, "; ")));
  }

  const SearchReport& r_;
  StepColumn column_;
  bool tight_ = false, nearly_full_ = false;
};

}  // namespace

std::string StepColumn::text(Seconds step) const {
  return each_its_unit ? humanise(step).text() : column.text(step.seconds());
}

StepColumn step_column(const SearchOutcome& outcome, const std::optional<StrategyOutcome>& own) {
  const auto& ranked = outcome.ranked;
  Seconds longest = ranked.empty() ? Seconds{} : ranked.front().outcome.step;
  const Seconds least = longest;
  if (own) longest = std::max(longest, own->step);
  return {column_for(longest), longest > least * kFarApart};
}

std::vector<TriedStrategy> listed_of(const SearchOutcome& outcome, std::size_t keep) {
  std::vector<TriedStrategy> listed;
  for (const TriedStrategy& tried : by_time_and_memory(outcome.ranked)) {
    if (listed.size() == keep) break;
    const bool known = std::ranges::any_of(listed, [&](const TriedStrategy& other) {
      return differ_in_bucket_alone(tried.strategy, other.strategy);
    });
    if (!known) listed.push_back(tried);
  }
  return listed;
}

std::string reason_text(const SearchReason& reason) {
  double step = 0;
  std::vector<std::pair<double, Cause>> saved;
  for (std::size_t i = 0; i < kCauses; ++i) {
    step += reason.own[i];
    saved.emplace_back(reason.own[i] - reason.best[i], static_cast<Cause>(i));
  }
  std::ranges::stable_sort(
      saved, [](const auto& a, const auto& b) { return std::abs(a.first) > std::abs(b.first); });
  const Column column = column_for(Seconds{step});
  std::vector<std::string> less, more;
  for (std::size_t i = 0; i < kNamed; ++i) {
    const auto& [seconds, cause] = saved[i];
    if (std::abs(seconds) < kSmall * step) continue;
    (seconds > 0 ? less : more)
        .push_back(fmt::format("{} {}{}", column.text(std::abs(seconds)),
                               seconds > 0 ? "of " : "more of ", title_of(cause)));
  }
  std::string text;
  if (!less.empty()) text = "saves " + fmt::format("{}", fmt::join(less, ", "));
  if (!more.empty())
    text += fmt::format("{}takes {}", text.empty() ? "" : " and ", fmt::join(more, ", "));
  return text.empty() ? "is hardly different" : text;
}

std::vector<std::string> shell_lines(const std::string& command, int width) {
  static const std::string kOption = " --set ";
  std::vector<std::string> lines{""};
  for (std::size_t from = 0; from < command.size();) {
    const std::size_t next = std::min(command.find(kOption, from + 1), command.size());
    const std::string piece = command.substr(from, next - from);
    if (!lines.back().empty() && width_of(lines.back() + piece) > width - 2) {
      lines.back() += " \\";
      lines.push_back(" ");
    }
    lines.back() += piece;
    from = next;
  }
  return lines;
}

std::string undivided_text(std::int64_t global_batch, int gpus) {
  if (global_batch % gpus == 0) return "";
  return fmt::format(": {} samples do not divide among {} GPUs", grouped(global_batch),
                     grouped(gpus));
}

std::string counts_text(const SearchCounts& c) {
  return fmt::format(
      "{} strategies: {} do not fit together, {} cannot fit in memory, {} cannot be faster than "
      "the best by their bounds, {} were simulated{}{}",
      grouped(c.considered), grouped(c.refused), grouped(c.too_large + c.no_memory),
      grouped(c.pruned), grouped(c.simulated),
      c.failed > 0 ? fmt::format(", {} failed", grouped(c.failed)) : "",
      c.left > 0 ? fmt::format(", {} are left", grouped(c.left)) : "");
}

std::string end_text(const SearchOutcome& outcome) {
  switch (outcome.end) {
    case SearchEnd::simulations:
      return "as many were simulated as may be (--simulations N allows more)";
    case SearchEnd::expired:
      return "the time is over (--budget allows more)";
    case SearchEnd::interrupted:
      return "interrupted";
    case SearchEnd::complete:
      break;
  }
  return "";
}

std::string failures_text(const SearchOutcome& outcome) {
  if (!outcome.failed) return "";
  const std::string& text = outcome.failed->outcome.failure;
  return fmt::format("{}{}: {}", outcome.counts.failed > 1 ? "the first of them, " : "",
                     strategy_text(outcome.failed->strategy), text.substr(0, text.find('\n')));
}

std::string closest_text(const SearchOutcome& outcome, Bytes capacity) {
  const TriedStrategy& s = *outcome.smallest;
  return fmt::format("the closest is {}; it needs {}{} of {}", strategy_text(s.strategy),
                     s.outcome.peak > s.bound.memory ? "" : "at least ",
                     humanise(s.needed()).text(), humanise(capacity).text());
}

bool is_tight(const StrategyOutcome& outcome, Bytes capacity) { return outcome.peak > capacity; }

std::string tight_text(Bytes capacity) {
  return fmt::format("what is above {} fits once cached fragments are given back",
                     humanise(capacity).text());
}

std::string nearly_full_text(Bytes capacity) {
  return fmt::format("from {} on beware: {}", humanise(capacity * kNearlyFull).text(),
                     kFullMemoryFact);
}

std::string frameworks_text(const std::vector<FrameworkFit>& frameworks) {
  std::vector<std::string> able;
  for (const FrameworkFit& one : frameworks)
    if (one.lacks.empty()) able.push_back(one.name);
  if (!able.empty())
    return fmt::format("{}; the scenario states no framework", fmt::join(able, ", "));
  const auto nearest = std::ranges::min_element(
      frameworks, {}, [](const FrameworkFit& one) { return one.lacks.size(); });
  return fmt::format("no framework as it is; {} lacks {}", nearest->name,
                     fmt::join(nearest->lacks, ", "));
}

std::string trained_text(const TrainedRun& run, int gpus, std::optional<double> dollars_per_hour) {
  std::string text = run.tokens > 0 ? humanise(run.tokens, "tokens").text()
                                    : fmt::format("{} steps", grouped(std::llround(run.steps)));
  const double hours = run.wall.seconds() / 3600 * gpus;
  text += fmt::format(" in {}, {} GPU hours", span_text(run.wall), grouped(std::llround(hours)));
  if (dollars_per_hour) text += ", " + dollars(hours * *dollars_per_hour);
  if (run.energy) {
    const RunEnergy& e = *run.energy;
    const auto bound = [&](Watts watts) {
      return energy_text(run.kwh() * watts.value / e.facility().value);
    };
    text += fmt::format(", {} ({} to {}), {} of CO2e", energy_text(run.kwh()), bound(e.least),
                        bound(e.most), carbon_text(e.kg_of_co2e(run.kwh())));
  }
  if (run.goodput) text += fmt::format(", goodput {}", percent(*run.goodput));
  const std::string assumed = run.energy ? assumed_energy_text(*run.energy) : "";
  return assumed.empty() ? text : text + "; " + assumed;
}

std::string in_time_text(Seconds wall, Seconds deadline) {
  return wall <= deadline
             ? fmt::format("in time: {} before the deadline of {}", span_text(deadline - wall),
                           span_text(deadline))
             : fmt::format("too late: {} ({}) after the deadline of {}", span_text(wall - deadline),
                           percent(wall / deadline - 1), span_text(deadline));
}

std::string search_text(const SearchReport& report, const Screen& screen) {
  return SearchPage(report, screen).text();
}

}  // namespace stepsim
