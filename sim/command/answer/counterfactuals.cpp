// Plans of other worlds, and their steps.
#include "sim/command/answer/counterfactuals.hpp"

#include "sim/core/registry.hpp"
#include "sim/engine/simulate.hpp"
#include "sim/report/measure/measure.hpp"
#include "sim/report/measure/straggler.hpp"

namespace stepsim {
namespace {

Seconds step_of(const Scenario& scenario, const OpGraph& graph, const PlanOptions& options) {
  return step_of(make_plan(scenario, graph, options));
}

/// Each kind of fault that the scenario has, and the step without it.
std::vector<FaultCost> fault_costs(const Scenario& scenario, const OpGraph& graph,
                                   const PlanOptions& options,
                                   const std::function<bool()>& is_over) {
  std::vector<FaultCost> costs;
  const auto add = [&](const char* key, const char* title, bool has, auto heal) {
    if (!has || is_over()) return;
    Scenario other = scenario;
    heal(other.faults);
    costs.push_back({key, title, step_of(other, graph, options)});
  };
  const Faults& faults = scenario.faults;
  add("slow_gpus", "slow GPUs", !faults.slow_gpus.empty(), [](Faults& f) { f.slow_gpus.clear(); });
  add("slow_links", "slow links", !faults.slow_links.empty(),
      [](Faults& f) { f.slow_links.clear(); });
  add("jitter", "jitter", faults.kernels || faults.collectives, [](Faults& f) {
    f.kernels.reset();
    f.collectives.reset();
  });
  return costs;
}

/// The ranks that faults.slow_gpus touches, sorted.
std::vector<int> slow_ranks(const Scenario& scenario, int replica) {
  const std::vector<Slowness> slowness = slowness_of_ranks(scenario, {.replica = replica});
  std::vector<int> ranks;
  for (std::size_t rank = 0; rank < slowness.size(); ++rank) {
    if (slowness[rank] != Slowness{}) ranks.push_back(static_cast<int>(rank));
  }
  return ranks;
}

}  // namespace

Seconds step_of(const Plan& plan) { return mean_step(simulate(plan, {.spans = false}).timeline); }

std::vector<LimitOutcome> add_counterfactuals(Metrics& metrics, const Scenario& scenario,
                                              const OpGraph& graph, const Plan& plan, int replica,
                                              const Timeline& timeline,
                                              const std::function<bool()>& stop) {
  const auto is_over = [&] { return stop && stop(); };
  PlanOptions options{.replica = replica, .folds = true, .cache = plan.cache};
  metrics.fault_costs = fault_costs(scenario, graph, options, is_over);
  if (is_over()) return {};
  metrics.stragglers = stragglers_of(timeline);
  if (!metrics.stragglers.empty()) {
    const std::vector<int> stragglers = ranks_of(metrics.stragglers);
    // Where they are all slow GPUs that there are, their cost is known already.
    const bool known = stragglers == slow_ranks(scenario, replica) && !scenario.faults.kernels;
    options.healthy = stragglers;
    metrics.without_stragglers =
        known ? metrics.fault_costs.front().without : step_of(scenario, graph, options);
  }
  std::vector<LimitOutcome> limits;
  for (const Limit* limit : Registry<Limit>::all()) {
    if (is_over()) return limits;
    if (!limit->applies(scenario)) continue;
    limits.push_back({limit, step_of(limit->plan(plan))});
    metrics.limits.push_back(
        {std::string(limit->name), std::string(limit->world), limits.back().step});
  }
  metrics.verdict = verdict(metrics, limits, step_of(without_compute(plan)));
  return limits;
}

}  // namespace stepsim
