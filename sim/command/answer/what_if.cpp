// Every counterfactual by itself, one simulation after the other.
#include "sim/command/answer/what_if.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "sim/command/answer/counterfactuals.hpp"
#include "sim/command/answer/long_run.hpp"
#include "sim/command/answer/simulated_change.hpp"
#include "sim/core/error.hpp"
#include "sim/core/registry.hpp"
#include "sim/engine/simulate.hpp"
#include "sim/plan/plan_cache.hpp"
#include "sim/process/interrupt.hpp"
#include "sim/report/measure/measure.hpp"

namespace stepsim {
namespace {

// Workers of a GPU: eight GPUs with so many each have all threads of two of the largest CPUs.
constexpr int kMostWorkers = 48;
constexpr double kAlike = 1.01;     // steps that differ by less are the same
constexpr double kLonger = 1.0005;  // steps that print as longer
constexpr double kMostOf = 0.5;
// Workers fill their queue where a step takes at most so many times as long as with infinitely fast
// workers.
constexpr double kFilled = 1.05;

Seconds step_of(const Scenario& scenario, PlanCache* cache) {
  const OpGraph graph = build(scenario);
  return step_of(make_plan(scenario, graph, {.folds = true, .cache = cache}));
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
  std::ranges::stable_sort(outcomes, [](const auto& a, const auto& b) {
    return std::pair(a.kind, rounded(a.step)) < std::pair(b.kind, rounded(b.step));
  });
}

double most_held(const Plan& plan) {
  double most = 0;
  for (const Operation& operation : plan.operations) most = std::max(most, operation.held_sms);
  return most;
}

/// Says why of hardware that makes the step longer, where most of that is compute that collectives
/// slow down: a faster network gets more of NCCL's channels, which hold SMs.
void explain_harm(std::vector<ChangeOutcome>& outcomes, const std::vector<Change>& changes,
                  const ChangeBase& base, const Metrics& metrics) {
  const auto contention = [](const Metrics& m) {
    return Seconds{m.breakdown[static_cast<std::size_t>(Cause::contention)]};
  };
  for (ChangeOutcome& outcome : outcomes) {
    if (outcome.kind != ChangeKind::hardware || outcome.step <= kLonger * metrics.step_time)
      continue;
    const auto change = std::ranges::find(changes, outcome.title, &Change::title);
    if (change == changes.end() || InterruptNoted::came()) continue;
    const ChangedRun run = changed_run(*change, base);
    const Seconds more = contention(run.metrics) - contention(metrics);
    if (more > kMostOf * (outcome.step - metrics.step_time))
      outcome.contention = MoreContention{more, most_held(base.plan), most_held(run.plan)};
  }
}

/// Steps with other numbers of workers.
class WorkerSteps {
 public:
  explicit WorkerSteps(const ChangeBase& base) : base_(base) {}

  /// Nothing where a node has no memory for them.
  std::optional<Seconds> with(int workers) const try {
    return step_of(base_.reread({fmt::format("data.workers={}", workers)}), base_.plan.cache);
  } catch (const UserError&) {
    return {};
  }

  /// Twice as many, or as many more as there is memory for; as many: none.
  std::pair<int, Seconds> with_more_than(int workers) const {
    for (int more = std::min(2 * workers, kMostWorkers); more > workers;
         more = workers + (more - workers) / 2) {
      if (const auto step = with(more)) return {more, *step};
    }
    return {workers, {}};
  }

 private:
  const ChangeBase& base_;
};

/// Sets the fewest workers with which the step is as short as any number of them makes it, unless
/// that is far from `free`, a step with infinitely fast ones.
void find_enough(LoaderNeed& need, const ChangeBase& base, Seconds free) {
  const WorkerSteps steps(base);
  const int now = std::max(need.workers, 1);
  const auto first = steps.with(now);
  if (!first) return;
  Seconds best = *first;
  int few = now, enough = now;
  bool helps = true;
  while (helps && !InterruptNoted::came()) {
    const auto [more, step] = steps.with_more_than(enough);
    if (more == enough) break;
    helps = step * kAlike < best;
    if (!helps) break;
    few = enough;
    enough = more;
    best = step;
  }
  if (best > kFilled * free) {
    need.most = helps ? enough : 0;
    return;
  }
  while (few + 1 < enough && !InterruptNoted::came()) {
    const int middle = (few + enough) / 2;
    const auto step = steps.with(middle);
    (step && *step <= kAlike * best ? enough : few) = middle;
  }
  if (enough > now) need.enough = enough;
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
  const auto best = std::ranges::min_element(limits, {}, &LimitOutcome::step);
  if (best->limit->name != "input" || best->step * kAlike >= step) return {};
  const double samples =
      static_cast<double>(base.scenario.training.global_batch) / base.scenario.data_parallel();
  const Seconds free = step_of(with_free_workers(base.plan));
  LoaderNeed need{.workers = base.scenario.data->workers,
                  .delivered = samples / step.seconds(),
                  .taken = samples / free.seconds(),
                  .copies = free - best->step};
  find_enough(need, base, free);
  if (!need.enough && step <= kFilled * free) return {};  // the workers fill it as they are
  return need;
}

/// Unless it is among the changes already.
void add_workers(std::vector<ChangeOutcome>& changes, int workers, const ChangeBase& base) {
  const Change change{.settings = {fmt::format("data.workers={}", workers)}};
  const bool known = std::ranges::any_of(
      changes, [&](const ChangeOutcome& other) { return other.settings == change.settings; });
  if (known) return;
  const auto outcome = simulate_change(change, base);
  // Before others that take as long: it is the least that is enough.
  if (outcome) changes.insert(changes.begin(), *outcome);
}

}  // namespace

Explanation explain(const Scenario& scenario, const Reread& reread) {
  const OpGraph graph = build(scenario);
  PlanCache cache;
  const PlanOptions options{.folds = true, .cache = &cache};
  const Plan plan = make_plan(scenario, graph, options);
  const ChangeBase base{scenario, plan, reread};
  const InterruptNoted noted;
  Explanation explanation;
  const std::vector<Change> changes = all_changes(scenario);
  explanation.changes = simulate_changes(changes, base);
  const Simulation simulation = simulate(plan);
  Metrics& metrics = explanation.metrics = measure(scenario, graph, simulation);
  const auto limits = add_counterfactuals(metrics, scenario, graph, plan, 0, simulation.timeline,
                                          InterruptNoted::came);
  if (!InterruptNoted::came()) explanation.loader = loader_need(base, metrics, limits);
  if (explanation.loader && explanation.loader->enough)
    add_workers(explanation.changes, *explanation.loader->enough, base);
  explain_harm(explanation.changes, changes, base, metrics);
  add_known(explanation.changes, metrics, limits);
  explanation.path = summary_of_path(simulation.timeline);
  explanation.symptoms = symptoms_of(simulation.timeline, metrics);
  if (scenario.run.horizon && !InterruptNoted::came()) {
    metrics.checkpoint = checkpoint_cost(scenario, graph, options);
    metrics.long_run =
        simulate_long_run(metrics, scenario, graph, simulation.timeline, options, true);
  }
  explanation.is_interrupted = InterruptNoted::came();
  if (!explanation.is_interrupted) explanation.verdict = verdict_of(explanation);
  return explanation;
}

}  // namespace stepsim
