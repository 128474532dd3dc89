// Each change is one simulation, always folded: the answer is the same and it is cheap.
#include "sim/command/answer/simulated_change.hpp"

#include <thread>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/command/answer/counterfactuals.hpp"
#include "sim/core/error.hpp"
#include "sim/engine/simulate.hpp"
#include "sim/process/forked.hpp"
#include "sim/report/measure/measure.hpp"
#include "sim/scenario/describe/lacking.hpp"

namespace stepsim {
namespace {

Scenario changed_scenario(const Change& change, const ChangeBase& base) {
  Scenario changed = change.settings.empty() ? base.scenario : base.reread(change.settings);
  if (change.scenario) change.scenario(changed);
  if (lacks_more(changed, base.scenario))
    throw UserError("the framework does not have what is changed");
  return changed;
}

Plan changed_plan(const Change& change, const ChangeBase& base, const Scenario& scenario,
                  const OpGraph& graph) {
  return change.plan
             ? change.plan(base.plan)
             : make_plan(scenario, graph,
                         {.replica = base.replica, .folds = true, .cache = base.plan.cache});
}

Memory memory_of(const Scenario& scenario, const OpGraph& graph) {
  return {memory_by_stage(scenario, graph), scenario.cluster.gpu.memory, Seconds{},
          scenario.parallelism.pipeline.chunks, scenario.run.memory_margin};
}

int processes(int jobs) {
  return jobs > 0 ? jobs : static_cast<int>(std::thread::hardware_concurrency());
}

/// The changed step in seconds, its peak in bytes, whether it fits; or nothing.
std::string simulated(const Change& change, const ChangeBase& base) try {
  const Scenario scenario = changed_scenario(change, base);
  const OpGraph graph = build(scenario);
  const Seconds step = step_of(changed_plan(change, base, scenario, graph));
  const Memory memory = memory_of(scenario, graph);
  return text_of({step.seconds(), memory.worst().total().bytes(), memory.fits() ? 1.0 : 0.0});
} catch (const UserError&) {
  return "";
} catch (const SimulationError&) {
  return "";
}

std::optional<ChangeOutcome> outcome_of(const Change& change, const std::string& answer) {
  if (answer.empty()) return {};
  const std::vector<double> numbers = numbers_of(answer);
  if (numbers.size() != 3) throw InternalError("a counterfactual answered '" + answer + "'");
  const bool is_setting = !change.settings.empty();
  return ChangeOutcome{
      .kind = is_setting ? ChangeKind::setting : ChangeKind::hardware,
      .title = is_setting ? fmt::format("{}", fmt::join(change.settings, " ")) : change.title,
      .settings = change.settings,
      .step = Seconds{numbers[0]},
      .peak = Bytes{numbers[1]},
      .fits = numbers[2] > 0};
}

}  // namespace

ChangedRun changed_run(const Change& change, const ChangeBase& base) {
  const Scenario scenario = changed_scenario(change, base);
  const OpGraph graph = build(scenario);
  ChangedRun run{.plan = changed_plan(change, base, scenario, graph), .metrics = {}};
  run.metrics = measure(scenario, graph, simulate(run.plan));
  return run;
}

std::optional<ChangeOutcome> simulate_change(const Change& change, const ChangeBase& base) {
  return outcome_of(change, simulated(change, base));
}

std::vector<Change> those_that_fit(const std::vector<Change>& changes, const ChangeBase& base,
                                   int jobs) {
  const auto fits = [&](int index) -> std::string {
    try {
      const Scenario scenario = changed_scenario(changes[static_cast<std::size_t>(index)], base);
      return memory_of(scenario, build(scenario)).fits() ? "fits" : "";
    } catch (const UserError&) {
      return "";
    }
  };
  const auto answers =
      run_forked(static_cast<int>(changes.size()), processes(jobs), fits, Copies::kept);
  std::vector<Change> fitting;
  for (std::size_t i = 0; i < answers.size(); ++i) {
    if (answers[i] == "fits") fitting.push_back(changes[i]);
  }
  return fitting;
}

std::vector<ChangeOutcome> simulate_changes(const std::vector<Change>& changes,
                                            const ChangeBase& base, int jobs) {
  const auto answers = run_forked(
      static_cast<int>(changes.size()), processes(jobs),
      [&](int index) { return simulated(changes[static_cast<std::size_t>(index)], base); },
      Copies::kept);
  std::vector<ChangeOutcome> outcomes;
  for (std::size_t i = 0; i < answers.size(); ++i) {
    const auto outcome = answers[i] ? outcome_of(changes[i], *answers[i]) : std::nullopt;
    if (outcome) outcomes.push_back(*outcome);
  }
  return outcomes;
}

}  // namespace stepsim
