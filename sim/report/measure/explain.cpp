// Sums up the critical path, and writes the verdict of an explanation.
#include "sim/report/measure/explain.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/report/measure/verdict.hpp"
#include "sim/report/run/memory_text.hpp"
#include "sim/text/humanise.hpp"

namespace stepsim {
namespace {

constexpr double kWorthTrying = 0.001;  // share of a step that a setting has to save
constexpr double kWorthSaying = 0.05;   // share of a long run
constexpr double kMoreGoodput = 0.005;  // share of all time that another interval has to save
constexpr double kAlike = 1e-4;  // settings whose steps differ by a smaller share are as good

/// Whether the result fits; one without memory is not known to be too large.
bool is_within_memory(const Metrics& m) { return m.memory.stages.empty() || m.memory.fits(); }

/// Whether a step with that peak leaves the margin, or as much as there is now.
bool leaves_room(const Memory& memory, Bytes peak) {
  if (memory.stages.empty() || peak <= memory.usable()) return true;
  return memory.fits() && peak <= memory.worst().total();
}

/// Whether a change makes the step shorter than another one does, or as short with fewer keys.
bool is_better(const ChangeOutcome& a, const ChangeOutcome& b) {
  if (a.settings.size() == b.settings.size()) return rounded(a.step) < rounded(b.step);
  const double margin = a.settings.size() < b.settings.size() ? kAlike : -kAlike;
  return a.step < b.step * (1 + margin);
}

std::string data_bound(const LoaderNeed& need, const Metrics& m) {
  const auto rate = [&](double samples) { return humanise(samples, m.samples + "/s").text(); };
  std::string text = fmt::format("data-bound: {} worker{} {} to each replica, which takes {}",
                                 need.workers, need.workers == 1 ? " delivers" : "s deliver",
                                 rate(need.delivered), rate(need.taken));
  if (!need.enough) {
    if (need.most == 0) return text + "; no number of workers would fill it";
    return text + (need.most > need.workers ? fmt::format("; not even {} would fill it", need.most)
                                            : "; more were not tried");
  }
  text += fmt::format("; {} would fill it", *need.enough);
  const double step = m.step_time.seconds() * need.delivered / need.taken;
  if (need.copies.seconds() > kWorthSaying * step)
    text += fmt::format(", but for {} of copies to the GPU", humanise(need.copies).text());
  return text;
}

/// Adds what a long run says beside its steps, where checkpoints and lost work take much of it.
void add_long_run(Verdict& verdict, const LongRun& run, bool step_helped) {
  const double spent = run.shares.checkpoints + run.shares.lost;
  if (spent <= kWorthSaying) return;
  verdict.sentence += fmt::format("; of the long run, checkpoints take {} and lost work {}",
                                  percent(run.shares.checkpoints), percent(run.shares.lost));
  std::string next;
  if (run.every == 0) {
    next = "state checkpoint: without one each failure undoes everything";
  } else if (run.best && run.best->goodput > run.expected_goodput + kMoreGoodput) {
    next = fmt::format("--set checkpoint.every={}: expected goodput {} instead of {}",
                       run.best->every, percent(run.best->goodput), percent(run.expected_goodput));
  }
  if (next.empty()) return;
  verdict.next = step_helped ? next + "; for the step, " + verdict.next : next;
}

}  // namespace

PathSummary summary_of_path(const Timeline& timeline) {
  using Key = std::tuple<std::uint32_t, Cause, std::uint32_t>;
  std::map<Key, PathPiece> pieces;
  PathSummary summary;
  const int steps = timeline.measured_steps();
  for (auto step = static_cast<std::size_t>(timeline.warmup); step < timeline.step_ends.size();
       ++step) {
    summary.last_step = critical_path(timeline, step);
    for (const PathSegment& segment : summary.last_step) {
      PathPiece& piece = pieces[{segment.rank, segment.cause, segment.name}];
      ++piece.times;
      piece.seconds += Seconds{segment.seconds / steps};
    }
  }
  for (auto& [key, piece] : pieces) {
    const auto& [rank, cause, name] = key;
    piece.rank = timeline.ranks[rank].rank;
    piece.stage = timeline.ranks[rank].stage;
    piece.cause = cause;
    piece.task = timeline.names[name];
    summary.pieces.push_back(piece);
  }
  std::ranges::stable_sort(summary.pieces,
                           [](const auto& a, const auto& b) { return a.seconds > b.seconds; });
  for (const RankTimeline& rank : timeline.ranks) summary.ranks.push_back(rank.rank);
  return summary;
}

double rounded(Seconds step) {
  int exponent = 0;
  const double mantissa = std::frexp(step.seconds(), &exponent);
  return std::ldexp(std::round(std::ldexp(mantissa, 30)), exponent - 30);
}

const ChangeOutcome* best_setting(const Metrics& metrics,
                                  const std::vector<ChangeOutcome>& changes) {
  const ChangeOutcome *best = nullptr, *tightest = nullptr;
  for (const ChangeOutcome& change : changes) {
    const bool worth_it =
        !is_within_memory(metrics) || saving(metrics, change.step) >= kWorthTrying;
    if (change.kind != ChangeKind::setting || !change.fits || !worth_it) continue;
    const ChangeOutcome*& kept = leaves_room(metrics.memory, change.peak) ? best : tightest;
    if (kept == nullptr || is_better(change, *kept)) kept = &change;
  }
  // What does not fit at all is better off without a margin than not at all.
  return best == nullptr && !is_within_memory(metrics) ? tightest : best;
}

std::string next_setting(const Metrics& metrics, const ChangeOutcome& best) {
  std::string text = fmt::format("--set {}: {} ({:+.1f} %)", fmt::join(best.settings, " --set "),
                                 humanise(best.step).text(), -100 * saving(metrics, best.step));
  if (!is_within_memory(metrics)) {
    text += best.peak > metrics.memory.capacity
                ? ", and it fits once cached fragments are given back"
                : fmt::format(", and it fits: {} of {}", humanise(best.peak).text(),
                              humanise(metrics.memory.capacity).text());
  }
  const std::string full = full_memory_text(best.peak, metrics.memory.capacity);
  return full.empty() ? text : text + "; it " + full;
}

Verdict verdict_of(const Explanation& explanation) {
  const Metrics& m = explanation.metrics;
  const ChangeOutcome* best = best_setting(m, explanation.changes);
  Verdict verdict = m.verdict;
  if (!verdict.is_fault) {
    // A step need not be bound by its loader because the loader costs more than the other limits.
    if (explanation.loader && verdict.limit == "input")
      verdict.sentence = data_bound(*explanation.loader, m);
    if (best != nullptr) {
      verdict.next = next_setting(m, *best);
    } else if (is_within_memory(m)) {
      verdict.next = "none of the settings tried makes the step shorter and fits in memory";
    } else {
      verdict.next = "none of the settings tried fits in memory; stepsim search tries all splits";
    }
  }
  if (m.long_run) add_long_run(verdict, *m.long_run, verdict.is_fault || best != nullptr);
  return verdict;
}

}  // namespace stepsim
