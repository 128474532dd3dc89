// Runs with links that are a little faster.
#include "sim/command/answer/chaos.hpp"

#include <algorithm>
#include <cmath>

#include "sim/report/measure/measure.hpp"

namespace stepsim {
namespace {

// A report has three digits: what moves them is said.
constexpr double kNoticed = 1e-3;
// The run that tells whether there is a band, and those that show how wide it is.
constexpr int kFirst = 1, kAll = 8;

}  // namespace

std::optional<Chaos> chaos_of(const Plan& plan, const Simulation& simulation, bool fold) {
  if (simulation.stats.transfers == 0) return std::nullopt;
  const Seconds step = mean_step(simulation.timeline);
  Chaos chaos{.least = step, .most = step, .runs = 1};
  for (int run = 1; run <= kAll; ++run) {
    const Seconds other = mean_step(
        simulate(plan, {.spans = false, .fold = fold, .nudge = static_cast<std::uint64_t>(run)})
            .timeline);
    chaos.least = std::min(chaos.least, other);
    chaos.most = std::max(chaos.most, other);
    ++chaos.runs;
    if (run == kFirst && chaos.most - chaos.least <= kNoticed * step) return std::nullopt;
  }
  return chaos;
}

}  // namespace stepsim
