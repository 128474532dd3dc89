// How many steps a run has where the scenario does not say.
#pragma once

#include <algorithm>
#include <cmath>

#include "sim/scenario/host_period.hpp"
#include "sim/scenario/scenario.hpp"

namespace stepsim {

/// Steps that a run has by itself so that what comes only every so often has come around.
inline constexpr int kLongestPeriod = 100;

/// Loaders start with a full queue to fill, and batches come in bursts: what they sustain shows
/// only after the queue has turned over, and as a mean over its turns. What the host does every so
/// many steps, and checkpoints, are measured over whole periods; a checkpoint's write may last into
/// the period after it, so that one goes by before. Checkpoints that are rarer than
/// kLongestPeriod are not among the steps.
inline Run run_defaults(const Scenario& s) {
  Run run;
  if (!std::holds_alternative<Transformer>(s.model.shape)) run.flops = "gemms";
  if (s.parallelism.tensor < 1 || s.parallelism.pipeline.stages < 1) return run;
  const bool splits = s.data_parallel() > 0 && s.training.micro_batch > 0;
  const int batches = splits ? std::max(s.micro_batches(), 1) : 1;
  if (s.data) {
    const double queue = static_cast<double>(s.data->workers) * s.data->prefetch;
    const int turns = static_cast<int>(std::min(2 * std::ceil(queue / batches), 100.0));
    run.steps = std::max(run.steps, turns);
    run.warmup = std::max(run.warmup, turns);
  }
  std::int64_t period = 1;
  if (s.checkpoint && s.checkpoint->every >= 1 && s.checkpoint->every <= kLongestPeriod) {
    period = s.checkpoint->every;
    run.warmup = std::max(run.warmup, static_cast<int>(period));
  }
  const int whole = host_period(s, batches, kLongestPeriod, period);
  run.steps = (run.steps + whole - 1) / whole * whole;
  return run;
}

/// Makes steps of tokens, where the model has any.
inline void resolve_horizon(Scenario& s) {
  if (!s.run.horizon || s.run.horizon->tokens <= 0 || s.tokens_per_step() <= 0) return;
  s.run.horizon = Horizon{
      Seconds{}, static_cast<std::int64_t>(std::ceil(s.run.horizon->tokens / s.tokens_per_step()))};
}

}  // namespace stepsim
