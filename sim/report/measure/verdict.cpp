// Decides what the step is bound by, and which settings might help.
#include "sim/report/measure/verdict.hpp"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "sim/report/measure/straggler.hpp"
#include "sim/text/humanise.hpp"

namespace stepsim {
namespace {

constexpr double kWorthSaying = 0.05;  // share of the step below which waiting is not the story
// share that is saved without pauses, from which compute is not the story
constexpr double kHeldUp = 0.25;
constexpr double kSmall = 0.005;  // a share below it rounds to 0 %

double sum(const CauseSeconds& seconds, const std::vector<Cause>& causes) {
  double sum = 0;
  for (const Cause cause : causes) sum += seconds[static_cast<std::size_t>(cause)];
  return sum;
}

/// The share of the slowest stage's step that these causes take.
double share(const Metrics& m, const std::vector<Cause>& causes) {
  return sum(m.breakdown, causes) / m.step_time.seconds();
}

/// The GPUs in words: "the GPUs of stage 7", or all of them where there is one stage.
std::string gpus_of(const Metrics& m) {
  return m.memory.stages.size() > 1 ? fmt::format("the GPUs of stage {}", m.slowest_stage)
                                    : "the GPUs";
}

const LimitOutcome* best_of(const std::vector<LimitOutcome>& limits) {
  const auto best = std::ranges::min_element(
      limits, [](const auto& a, const auto& b) { return a.step < b.step; });
  return best == limits.end() ? nullptr : &*best;
}

/// Whether a limit is a pause: a host's own work, during which the GPUs wait and do nothing.
bool is_pause(const Limit& limit) {
  return std::ranges::all_of(limit.causes, [](Cause cause) {
    return cause == Cause::cpu_work || cause == Cause::recompilation ||
           cause == Cause::garbage_collection;
  });
}

/// The pause that stops all work for so long that it is to blame, however much the rest of the step
/// computes.
const LimitOutcome* pause(const Metrics& m, const std::vector<LimitOutcome>& limits) {
  const LimitOutcome* best = nullptr;
  for (const LimitOutcome& outcome : limits) {
    if (!is_pause(*outcome.limit) || saving(m, outcome.step) < kHeldUp) continue;
    if (best == nullptr || outcome.step < best->step) best = &outcome;
  }
  return best;
}

/// The time that counts for the GPUs' own work when it is compared with a limit.
double own_against(const Metrics& m, const LimitOutcome& best, double own) {
  const bool is_bubble = best.limit->causes == std::vector{Cause::pipeline_bubble};
  return is_bubble ? own - saving(m, best.step) : own;
}

/// The limit that the step is bound by, or nullptr for the GPUs' own work.
const LimitOutcome* binding(const Metrics& m, const std::vector<LimitOutcome>& limits,
                            Seconds without_compute) {
  if (const LimitOutcome* stop = pause(m, limits)) return stop;
  const LimitOutcome* best = best_of(limits);
  if (best == nullptr || saving(m, best->step) < kWorthSaying) return nullptr;
  const double own = own_against(m, *best, saving(m, without_compute));
  return saving(m, best->step) > own ? best : nullptr;
}

std::string bound(const Metrics& m, const LimitOutcome* by) {
  if (by == nullptr) {
    // The time by which collectives slow kernels down counts for the collectives.
    return fmt::format(
        "compute-bound: {} compute {:.0f} % of the step", gpus_of(m),
        100 * share(m, {Cause::forward, Cause::recompute, Cause::backward, Cause::optimizer}));
  }
  double waits = share(m, by->limit->causes);
  // The slowest rank may only wait while others pause: the simulated step knows how much that
  // costs.
  if (is_pause(*by->limit)) waits = std::max(waits, saving(m, by->step));
  return fmt::format("{}: {} wait {:.0f} % of the step {}", by->limit->bound, gpus_of(m),
                     100 * waits, by->limit->waits);
}

/// The verdict about a fault. Faults come first, because they can be mended without a change to the
/// scenario.
std::optional<Verdict> fault_verdict(const Metrics& m) {
  if (!m.stragglers.empty() && 1 - m.without_stragglers / m.step_time >= kWorthSaying) {
    const bool stalls = m.stragglers.front().stall * 2 > m.stragglers.front().late;
    const bool alone = ranks_of(m.stragglers).size() == 1;
    return Verdict{"straggler: " + straggler_sentence(m),
                   fmt::format("{} {}, or leave {} out",
                               stalls ? "look for what keeps" : "check clocks and temperature of",
                               stalls ? (alone ? "that host busy" : "those hosts busy")
                                      : (alone ? "that GPU" : "those GPUs"),
                               alone ? "its node" : "their nodes"),
                   true};
  }
  const auto worst = std::ranges::min_element(m.fault_costs, {}, &FaultCost::without);
  if (worst == m.fault_costs.end() || 1 - worst->without / m.step_time < kWorthSaying) return {};
  return Verdict{
      fmt::format("held up by {0}: without {0} the step would take {1} ({2:+.0f} %)", worst->title,
                  humanise(worst->without).text(), -100 * (1 - worst->without / m.step_time)),
      worst->key == "slow_links" ? "replace the cable or the transceiver, or route around"
                                 : "find out what makes them so",
      true};
}

}  // namespace

double saving(const Metrics& m, Seconds step) { return 1 - step / m.step_time; }

Verdict verdict(const Metrics& m, const std::vector<LimitOutcome>& limits,
                Seconds without_compute) {
  if (const auto fault = fault_verdict(m)) return *fault;
  const LimitOutcome* by = binding(m, limits, without_compute);
  const LimitOutcome* best = best_of(limits);
  std::string sentence = bound(m, by);
  if (best != nullptr && saving(m, best->step) >= kSmall) {
    sentence += fmt::format("; {} it would take {} ({:+.0f} %)", best->limit->world,
                            humanise(best->step).text(), -100 * saving(m, best->step));
  }
  return {.sentence = sentence, .limit = by == nullptr ? "" : std::string(by->limit->name)};
}

std::vector<std::string_view> promising(const Metrics& m, const std::vector<LimitOutcome>& limits) {
  const std::vector<std::string_view> own{"recompute", "attention", "micro-batches", "vocabulary",
                                          "convolutions"};
  const LimitOutcome* best = best_of(limits);
  const double gain = best == nullptr ? 0 : saving(m, best->step);
  const std::vector<std::string_view> limited =
      gain < kSmall ? std::vector<std::string_view>{} : best->limit->proposals;
  const bool is_first = gain > std::max(share(m, {Cause::recompute}), kWorthSaying);
  std::vector<std::string_view> all;
  const auto add = [&](const std::vector<std::string_view>& families) {
    for (const std::string_view family : families) {
      if (std::ranges::find(all, family) == all.end()) all.push_back(family);
    }
  };
  // A scenario that cannot run has to fit before it can be fast.
  if (!m.memory.fits()) add({"split", "experts", "memory"});
  add(is_first ? limited : own);
  add(is_first ? own : limited);
  return all;
}

}  // namespace stepsim
