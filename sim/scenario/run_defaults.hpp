// How many steps a run simulates where the scenario does not say.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <variant>

#include "sim/scenario/host_period.hpp"
#include "sim/scenario/scenario.hpp"

namespace stepsim {

inline constexpr int kLongestPeriod = 100;  ///< steps that a run has by itself for the host's sake

/// Loaders start with a full queue to fill, and batches come in bursts: what they sustain shows
/// only after the queue has turned over, and as a mean over its turns.
/// What the host repeats is measured over whole periods; likewise checkpoints that are among those
/// steps anyhow, from the second on, which may have to wait for the first.
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
  int period = host_period(s, batches, kLongestPeriod);
  const std::int64_t saves = s.checkpoint ? s.checkpoint->every : 0;
  if (saves > 0 && saves <= run.warmup + run.steps) {
    const auto every = static_cast<int>(saves);
    run.warmup = std::max(run.warmup, every);
    if (std::lcm(period, every) <= kLongestPeriod) period = std::lcm(period, every);
  }
  run.steps = (run.steps + period - 1) / period * period;
  return run;
}

}  // namespace stepsim
