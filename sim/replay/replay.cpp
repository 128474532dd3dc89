// Simulates a recording's plan, unchanged and changed.
#include "sim/replay/replay.hpp"

#include <algorithm>
#include <cmath>

#include "sim/engine/simulate.hpp"
#include "sim/replay/changes.hpp"

namespace stepsim {
namespace {

double seconds(Nanoseconds time) { return static_cast<double>(time) * 1e-9; }

/// When the steps' marks were passed, and at the end when the GPU had ended.
std::vector<double> marks(const Plan& plan) {
  return simulate(plan, {.spans = false}).timeline.step_ends;
}

double mean_step(const ReplayPlan& replay, const std::vector<double>& marks) {
  return (marks.back() - seconds(replay.lag)) / static_cast<double>(replay.steps.size());
}

std::vector<ReplayedStep> replayed_steps(const ReplayPlan& replay,
                                         const std::vector<double>& marks) {
  std::vector<ReplayedStep> steps;
  for (std::size_t i = 0; i < replay.steps.size(); ++i) {
    const double start = i == 0 ? 0 : marks[2 * i - 1];
    steps.push_back({replay.steps[i].name, seconds(replay.steps[i].window.length()),
                     marks[2 * i] - start});
  }
  return steps;
}

}  // namespace

double Replay::worst_deviation() const {
  double worst = 0;
  for (const ReplayedStep& step : steps) {
    if (std::abs(step.deviation()) > std::abs(worst)) worst = step.deviation();
  }
  return worst;
}

std::optional<Replay> replay(const Recording& recording, const KernelKinds& kinds) {
  const auto plan = replay_plan(recording, kinds);
  if (!plan) return std::nullopt;
  const std::vector<double> unchanged = marks(plan->plan);
  const double before = mean_step(*plan, unchanged);
  Replay result{.steps = replayed_steps(*plan, unchanged),
                .not_explained_s = seconds(plan->not_explained)};
  for (const PlannedChange& change : changes_of(*plan))
    result.changes.push_back({change.name, change.sentence, before,
                              mean_step(*plan, marks(changed(*plan, change)))});
  std::ranges::stable_sort(result.changes, std::ranges::greater{}, &ReplayedChange::gain_s);
  return result;
}

}  // namespace stepsim
