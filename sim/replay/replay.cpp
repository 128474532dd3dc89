// Simulates a recording's plan, unchanged and changed.
#include "sim/replay/replay.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "sim/engine/simulate.hpp"
#include "sim/replay/changes.hpp"

namespace stepsim {
namespace {

double seconds(Nanoseconds time) { return static_cast<double>(time) * 1e-9; }

struct Marks {
  std::vector<double> host;  ///< end of the first step, then start and end of each other one
  std::vector<double> gpu;   ///< when the GPU had done all that was launched up to each step's end
};

Marks simulated(const ReplayPlan& replay, const Plan& plan) {
  const Timeline timeline = simulate(plan).timeline;
  Marks marks{.host = timeline.step_ends};
  for (const Span& span : timeline.ranks.front().spans) {
    if (span.row == replay.gpu_marks) marks.gpu.push_back(span.end);
  }
  return marks;
}

/// What a step takes of each, behind the first one.
struct Pace {
  double host = 0, gpu = 0;
};

Pace pace_of(const Marks& marks) {
  if (marks.gpu.size() == 1) return {marks.host.back(), marks.gpu.back()};
  const auto steps = static_cast<double>(marks.gpu.size() - 1);
  return {(marks.host.back() - marks.host.front()) / steps,
          (marks.gpu.back() - marks.gpu.front()) / steps};
}

/// What counts to the GPU's time besides what it takes: of one step, less by what it ended later
/// than its host; of several, more by what the host has caught up.
double behind(const Marks& unchanged) {
  const Pace pace = pace_of(unchanged);
  const double difference = pace.host - pace.gpu;
  return unchanged.gpu.size() == 1 ? std::min(difference, 0.0) : std::max(difference, 0.0);
}

double long_run_step(const Pace& pace, double behind) {
  return std::max(pace.host, pace.gpu + behind);
}

std::vector<ReplayedStep> replayed_steps(const ReplayPlan& replay, const Marks& marks) {
  std::vector<ReplayedStep> steps;
  for (std::size_t i = 0; i < replay.steps.size(); ++i) {
    const double start = i == 0 ? 0 : marks.host[2 * i - 1];
    steps.push_back({replay.steps[i].name, seconds(replay.steps[i].window.length()),
                     marks.host[2 * i] - start});
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

Replay replay(const ReplayPlan& plan) {
  const Marks unchanged = simulated(plan, plan.plan);
  // A core is its own host: nothing is behind anything.
  const double more =
      plan.is_of_core ? -std::numeric_limits<double>::infinity() : behind(unchanged);
  const double before = long_run_step(pace_of(unchanged), more);
  Replay result{.steps = replayed_steps(plan, unchanged),
                .steps_left_out = plan.steps_left_out,
                .not_explained_s = seconds(plan.not_explained)};
  for (const PlannedChange& change : changes_of(plan)) {
    const Marks marks = simulated(plan, changed(plan, change));
    result.changes.push_back(
        {change.name, change.sentence, before, long_run_step(pace_of(marks), more)});
  }
  std::ranges::stable_sort(result.changes, std::ranges::greater{}, &ReplayedChange::gain_s);
  return result;
}

}  // namespace stepsim
