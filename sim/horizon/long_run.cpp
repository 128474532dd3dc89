// Takes means over histories and percentiles over steps.
#include "sim/horizon/long_run.hpp"

#include <algorithm>
#include <map>

namespace stepsim {
namespace {

/// How many steps took how long.
class StepTimes {
 public:
  void add(const Travel& travel, const History& history) {
    for (std::size_t i = 0; i < travel.steps.size(); ++i) {
      add(travel.steps[i], history.plain[i]);
      add(travel.steps[i] + travel.checkpoint.blocking, history.blocked[i]);
    }
    for (const auto& [time, times] : history.waited) add(time, times);
  }
  /// The shortest time within which at least `share` of all steps stayed.
  Seconds quantile(double share) const {
    auto left = static_cast<double>(count_) * share;
    for (const auto& [time, times] : counts_) {
      left -= static_cast<double>(times);
      if (left <= 0) return time;
    }
    return counts_.empty() ? Seconds{0} : counts_.rbegin()->first;
  }

 private:
  void add(Seconds time, std::int64_t times) {
    if (times == 0) return;
    counts_[time] += times;
    count_ += times;
  }
  std::map<Seconds, std::int64_t> counts_;
  std::int64_t count_ = 0;
};

void add(TimeSpent& sum, const TimeSpent& part, double weight) {
  sum.useful += weight * part.useful;
  sum.checkpoints += weight * part.checkpoints;
  sum.lost += weight * part.lost;
  sum.detection += weight * part.detection;
  sum.restart += weight * part.restart;
  sum.reload += weight * part.reload;
}

/// Adds what renewal theory says about the run whose histories were drawn.
void add_theory(LongRun& run, Seconds step) {
  const Journey journey{step, run.checkpoint, run.failures};
  if (run.every == 0) return;
  run.expected_goodput = expected_shares(journey, run.every).useful;
  const auto best = best_interval(journey);
  if (!best) return;
  run.best = {*best, expected_shares(journey, *best).useful, young_interval(journey),
              daly_interval(journey)};
}

}  // namespace

Seconds mean_step_of(const std::vector<std::vector<Seconds>>& worlds) {
  Seconds sum;
  double count = 0;
  for (const auto& world : worlds) {
    for (const Seconds step : world) sum += step;
    count += static_cast<double>(world.size());
  }
  return sum / count;
}

LongRun long_run(Travel travel, const std::vector<std::vector<Seconds>>& worlds, int histories,
                 RandomKey key) {
  LongRun run{.horizon = travel.horizon,
              .every = travel.every,
              .checkpoint = travel.checkpoint,
              .failures = travel.failures,
              .histories = histories,
              .least_goodput = 1};
  for (const auto& world : worlds) run.sampled += static_cast<int>(world.size());
  StepTimes times;
  const double weight = 1.0 / histories;
  for (int i = 0; i < histories; ++i) {
    travel.steps = worlds[static_cast<std::size_t>(i) % worlds.size()];
    const History history = draw_history(travel, key.with(static_cast<std::uint64_t>(i)));
    const double wall = history.time.total();
    times.add(travel, history);
    add(run.shares, history.time.over(wall), weight);
    run.least_goodput = std::min(run.least_goodput, history.time.useful / wall);
    run.most_goodput = std::max(run.most_goodput, history.time.useful / wall);
    run.wall += Seconds{wall} * weight;
    run.steps += weight * static_cast<double>(history.steps);
    run.interruptions += weight * static_cast<double>(history.failures);
  }
  run.p50 = times.quantile(0.5);
  run.p95 = times.quantile(0.95);
  run.p99 = times.quantile(0.99);
  run.most = times.quantile(1);
  run.step = mean_step_of(worlds);
  add_theory(run, run.step);
  return run;
}

}  // namespace stepsim
