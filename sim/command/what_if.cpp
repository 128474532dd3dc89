// Every counterfactual by itself, one simulation after the other.
#include "sim/command/what_if.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "sim/command/counterfactuals.hpp"
#include "sim/command/interrupt.hpp"
#include "sim/command/long_run.hpp"
#include "sim/command/simulated_change.hpp"
#include "sim/core/error.hpp"
#include "sim/core/registry.hpp"
#include "sim/engine/simulate.hpp"
#include "sim/report/measure.hpp"

namespace stepsim {
namespace {

// Of a GPU: eight GPUs with so many each have all threads of two of the largest CPUs.
constexpr int kMostWorkers = 48;
constexpr double kAlike = 1.01;   // steps that differ by less are the same
constexpr double kFilled = 1.05;  // of a step without input: batches still have to be copied

Seconds step_of(const Scenario& scenario) {
  const OpGraph graph = build(scenario);
  return step_of(make_plan(scenario, graph));
}

std::vector<Change> all_changes(const Scenario& scenario) {
  std::vector<Change> changes;
  for (const Proposal* proposal : Registry<Proposal>::all()) {
    for (Change& change : proposal->changes(scenario)) changes.push_back(std::move(change));
  }
  return changes;
}

/// Limits and faults, whose steps are known; then sorts: the best of each kind first.
void add_known(std::vector<ChangeOutcome>& outcomes, const Metrics& m,
               const std::vector<LimitOutcome>& limits) {
  const auto add = [&](ChangeKind kind, const std::string& title, Seconds step) {
    outcomes.push_back({.kind = kind,
                        .title = title,
                        .settings = {},
                        .step = step,
                        .peak = m.memory.worst().total(),
                        .fits = m.memory.fits()});
  };
  for (const LimitOutcome& limit : limits)
    add(ChangeKind::limit, std::string(limit.limit->world), limit.step);
  for (const FaultCost& cost : m.fault_costs)
    add(ChangeKind::hardware, "without " + cost.title, cost.without);
  if (!m.stragglers.empty()) add(ChangeKind::hardware, "without stragglers", m.without_stragglers);
  std::stable_sort(outcomes.begin(), outcomes.end(), [](const auto& a, const auto& b) {
    return std::pair(a.kind, a.step) < std::pair(b.kind, b.step);
  });
}

/// The fewest workers with which the step is as short as any number of them makes it; nothing where
/// that is far from a step without input, or where a node has no memory for them.
std::optional<int> workers_enough(const ChangeBase& base, Seconds free) try {
  const auto step_with = [&](int workers) {
    return step_of(base.reread({fmt::format("data.workers={}", workers)}));
  };
  const int now = std::max(base.scenario.data->workers, 1);
  int enough = now;
  Seconds best = step_with(enough);
  for (int more = 2 * now; more <= kMostWorkers && !InterruptNoted::came(); more *= 2) {
    const Seconds step = step_with(more);
    if (step * kAlike >= best) break;
    best = step;
    enough = more;
  }
  if (enough == now || best > kFilled * free) return {};
  int few = std::max(enough / 2, now);  // not enough
  while (few + 1 < enough && !InterruptNoted::came()) {
    const int middle = (few + enough) / 2;
    (step_with(middle) <= kAlike * best ? enough : few) = middle;
  }
  return enough;
} catch (const UserError&) {
  return {};
}

/// Where waiting for workers, and not for copies, is the limit without which the step is shortest.
std::optional<LoaderNeed> loader_need(const ChangeBase& base, const Metrics& metrics,
                                      const std::vector<LimitOutcome>& limits) {
  if (!base.scenario.data || limits.empty()) return {};
  const Seconds step = metrics.step_time;
  const auto spent = [&](Cause cause) {
    return metrics.breakdown[static_cast<std::size_t>(cause)];
  };
  if (spent(Cause::h2d) > spent(Cause::batch_wait)) return {};
  const auto best = std::min_element(
      limits.begin(), limits.end(),
      [](const LimitOutcome& a, const LimitOutcome& b) { return a.step < b.step; });
  if (best->limit->name != "input" || best->step * kAlike >= step) return {};
  const double samples =
      static_cast<double>(base.scenario.training.global_batch) / base.scenario.data_parallel();
  return LoaderNeed{.workers = base.scenario.data->workers,
                    .delivered = samples / step.seconds(),
                    .taken = samples / best->step.seconds(),
                    .enough = workers_enough(base, best->step)};
}

/// Unless it is among the changes already.
void add_workers(std::vector<ChangeOutcome>& changes, int workers, const ChangeBase& base) {
  const Change change{.settings = {fmt::format("data.workers={}", workers)}};
  const bool known = std::any_of(changes.begin(), changes.end(), [&](const ChangeOutcome& other) {
    return other.settings == change.settings;
  });
  if (known) return;
  const auto outcome = simulate_change(change, base);
  if (outcome) changes.push_back(*outcome);
}

}  // namespace

Explanation explain(const Scenario& scenario, const Reread& reread) {
  const OpGraph graph = build(scenario);
  const Plan plan = make_plan(scenario, graph);
  const ChangeBase base{scenario, plan, reread};
  const InterruptNoted noted;
  Explanation explanation;
  explanation.changes = simulate_changes(all_changes(scenario), base);
  const Simulation simulation = simulate(plan);
  Metrics& metrics = explanation.metrics = measure(scenario, graph, simulation);
  const auto limits = add_counterfactuals(metrics, scenario, graph, plan, 0, simulation.timeline,
                                          InterruptNoted::came);
  if (!InterruptNoted::came()) explanation.loader = loader_need(base, metrics, limits);
  if (explanation.loader && explanation.loader->enough)
    add_workers(explanation.changes, *explanation.loader->enough, base);
  add_known(explanation.changes, metrics, limits);
  explanation.path = summary_of_path(simulation.timeline);
  explanation.symptoms = symptoms_of(simulation.timeline, metrics);
  if (scenario.run.horizon && !InterruptNoted::came()) {
    metrics.checkpoint = checkpoint_cost(scenario, graph, 0);
    metrics.long_run = far(metrics, scenario, graph, simulation.timeline, 0, true);
  }
  explanation.is_interrupted = InterruptNoted::came();
  if (!explanation.is_interrupted) explanation.verdict = verdict_of(explanation);
  return explanation;
}

}  // namespace stepsim
