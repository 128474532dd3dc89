// Simulations behind checkpoints and long runs.
#include "sim/command/answer/long_run.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "sim/core/error.hpp"
#include "sim/engine/simulate.hpp"
#include "sim/plan/input/checkpoint.hpp"
#include "sim/plan/plan.hpp"
#include "sim/report/measure/measure.hpp"
#include "sim/scenario/describe/run_defaults.hpp"
#include "sim/text/humanise.hpp"

namespace stepsim {
namespace {

constexpr int kMostSteps = 64;        // steps of a window that a write has to end in
constexpr double kSmall = 1e-6;       // share of a step by which two simulations differ anyhow
constexpr double kHistories = 100;    // enough for the spread of a goodput
constexpr double kFewHistories = 30;  // enough for its mean
constexpr double kDraws = 2e7;        // draws for all histories: a second or two
constexpr double kMostDraws = 1e8;    // some seconds

/// Steps with a checkpoint after the first measured one, and without.
struct Pair {
  Timeline with, without;

  Pair(const Scenario& scenario, const OpGraph& graph, const PlanOptions& options)
      : with(run(scenario, graph, options, scenario.run.warmup)),
        without(run(scenario, graph, options, PlanOptions::kNoCheckpoint)) {}

  std::size_t first() const { return static_cast<std::size_t>(without.warmup); }
  double begun() const { return without.step_ends[first()]; }
  double blocking() const { return with.step_ends[first()] - begun(); }
  double slowdown() const { return with.step_ends.back() - without.step_ends.back() - blocking(); }
  double durable() const {
    double end = begun() + blocking();
    for (const RankTimeline& rank : with.ranks) {
      for (const Span& span : rank.spans) {
        if (span.cause == Cause::checkpoint) end = std::max(end, span.end);
      }
    }
    return end - begun();
  }
  double window() const { return with.step_ends.back() - begun(); }
  double mean_step() const {
    return (without.step_ends.back() - without.step_start(first())) / without.measured_steps();
  }

 private:
  static Timeline run(const Scenario& scenario, const OpGraph& graph, PlanOptions options,
                      int after) {
    options.checkpoint_after = after;
    const Plan plan = make_plan(scenario, graph, options);
    return simulate(plan, {.spans = after >= 0}).timeline;
  }
};

/// Steps beside the write are slower. What was not simulated is taken to be like what was.
CheckpointTimes times_of(const Pair& pair) {
  double slowdown = pair.slowdown();
  if (std::abs(slowdown) < kSmall * pair.mean_step()) slowdown = 0;
  const double beside = pair.window() - pair.blocking();
  const double left = pair.durable() - pair.blocking();
  if (left > beside && beside > 0) slowdown *= left / beside;
  return {Seconds{pair.blocking()}, Seconds{slowdown}, Seconds{pair.durable()}};
}

/// Whether steps go on while a checkpoint is written, by ways that they use, too.
bool writes_beside(const Scenario& s) {
  const Checkpoint& c = *s.checkpoint;
  if (c.mode == CheckpointMode::sync) return false;
  return !c.storage || c.storage->through == StoragePath::fabric;
}

/// A group of samples for each replica where something is drawn once a run, else one group in all.
std::vector<std::vector<Seconds>> worlds_of(const Scenario& s,
                                            std::vector<std::vector<Seconds>> samples) {
  const auto once = [](const std::optional<Jitter>& jitter) {
    return jitter && jitter->per == DrawPer::run;
  };
  bool apart = once(s.faults.kernels) || once(s.faults.collectives);
  for (const SlowGpus& slow : s.faults.slow_gpus) apart |= slow.who.fraction.has_value();
  for (const SlowLinks& slow : s.faults.slow_links) apart |= slow.who.fraction.has_value();
  if (apart) return samples;
  std::vector<Seconds> all;
  for (const auto& steps : samples) all.insert(all.end(), steps.begin(), steps.end());
  return {all};
}

Failures failures_of(const Scenario& s, const std::optional<CheckpointCost>& checkpoint) {
  const Reliability r = s.reliability.value_or(Reliability{});
  const PerSecond rate{s.cluster.gpus() / r.gpu_mtbf.seconds() +
                       s.cluster.nodes / r.node_mtbf.seconds()};
  // A checkpoint comes back the way it went.
  return {rate, r.detection, r.restart, checkpoint ? checkpoint->times.durable : Seconds{0}};
}

/// Sets how many steps are drawn together; returns how many histories there are. A draw is a step,
/// or several, to the next checkpoint or failure at most.
int histories_of(Travel& travel, Seconds step) {
  const Horizon& horizon = travel.horizon;
  const double every = static_cast<double>(travel.every);
  const Seconds apart =
      travel.every > 0 ? undisturbed_interval(step * every, travel.checkpoint) : step;
  const double pace = travel.every > 0 ? every / apart.seconds() : 1 / step.seconds();
  const double steps =
      horizon.steps > 0 ? static_cast<double>(horizon.steps) : horizon.time.seconds() * pace;
  travel.at_once = static_cast<std::int64_t>(std::max(std::ceil(kHistories * steps / kDraws), 1.0));
  const double failures = travel.failures.rate.base() * steps / pace;
  const double draws = steps / static_cast<double>(travel.at_once) +
                       (travel.every > 0 ? steps / every : 0) + failures;
  const double few = std::clamp(kMostDraws / draws, 1.0, kFewHistories);
  return static_cast<int>(std::clamp(kDraws / draws * 2, few, kHistories));
}

void check_horizon(const Horizon& horizon, Seconds step) {
  if (horizon.steps > 0 || horizon.time >= step) return;
  throw UserError(fmt::format("run.horizon: {} is shorter than a step, which takes {}",
                              humanise(horizon.time).text(), humanise(step).text()));
}

}  // namespace

std::optional<CheckpointCost> checkpoint_cost(const Scenario& scenario, const OpGraph& graph,
                                              const PlanOptions& options) {
  if (!scenario.checkpoint) return std::nullopt;
  Scenario calm = scenario;
  calm.faults.kernels.reset();
  calm.faults.collectives.reset();
  if (scenario.simulates_checkpoints()) {
    // The scenario's run is as long as it is for the sake of its checkpoints; the cost of one shows
    // in a shorter run.
    Scenario without = scenario;
    without.checkpoint.reset();
    const Run usual = run_defaults(without);
    calm.run.warmup = std::min(calm.run.warmup, usual.warmup);
    calm.run.steps = std::min(calm.run.steps, usual.steps);
  }
  Pair pair(calm, graph, options);
  // Where the write slows the steps beside it, all of these have to be there; a queue of loaders
  // may hide that from the first ones.
  const double steps = std::ceil(pair.durable() / pair.mean_step()) + 1;
  const bool slows =
      writes_beside(scenario) || std::abs(pair.slowdown()) > kSmall * pair.mean_step();
  if (slows && pair.durable() > pair.window()) {
    calm.run.steps = static_cast<int>(std::min<double>(steps, kMostSteps));
    pair = Pair(calm, graph, options);
  }
  return CheckpointCost{
      scenario.checkpoint->every, scenario.checkpoint->mode == CheckpointMode::async,
      checkpoint_bytes(scenario, graph), times_of(pair), Seconds{pair.mean_step()}};
}

std::vector<Seconds> steps_to_draw(const Scenario& scenario, const OpGraph& graph,
                                   const Timeline& timeline, const PlanOptions& options,
                                   bool fold) {
  const std::vector<bool> saves = steps_that_save(scenario, {});
  if (std::ranges::find(saves, true) != saves.end()) {
    Scenario without = scenario;
    without.checkpoint.reset();
    const Plan plan = make_plan(without, graph, options);
    const Simulation simulation = simulate(plan, {.spans = false, .fold = fold});
    return steps_to_draw(without, graph, simulation.timeline, options, fold);
  }
  return step_times(timeline);
}

LongRun simulate_long_run(const Metrics& m, const Scenario& s, const OpGraph& graph,
                          const Timeline& timeline, const PlanOptions& options, bool fold) {
  std::vector<std::vector<Seconds>> samples;
  if (m.replicas) {
    samples = m.replicas->samples;
  } else {
    samples.push_back(steps_to_draw(s, graph, timeline, options, fold));
  }
  Travel travel{.failures = failures_of(s, m.checkpoint), .horizon = *s.run.horizon};
  if (m.checkpoint) {
    travel.every = m.checkpoint->every;
    travel.checkpoint = m.checkpoint->times;
    // Loaders that catch up in the meantime give some of it back.
    const Seconds back = std::min(travel.checkpoint.slowdown, Seconds{0});
    travel.checkpoint.slowdown -= back;
    travel.checkpoint.blocking = std::max(travel.checkpoint.blocking + back, Seconds{0});
  }
  const Seconds step = mean_step_of(samples);
  check_horizon(travel.horizon, step);
  const int histories = histories_of(travel, step);
  return long_run(travel, worlds_of(s, std::move(samples)), histories,
                  key_of(s.run, 0, Drawn::histories));
}

}  // namespace stepsim
