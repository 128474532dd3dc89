// A long run as a report has it: what histories of it have in common, and what theory says.
#pragma once

#include <vector>

#include "sim/horizon/history.hpp"
#include "sim/horizon/interval.hpp"

namespace stepsim {

/// Checkpoints as rare as renewal theory has them best.
struct BestInterval {
  std::int64_t every = 0;  ///< steps
  double goodput = 0;      ///< expected
  Seconds young, daly;     ///< what the formulas have, in time
};

struct LongRun {
  Horizon horizon;
  std::int64_t every = 0;  ///< steps between checkpoints; 0: none
  CheckpointTimes checkpoint;
  Failures failures;
  Seconds step;                                ///< the mean one, without checkpoints
  int sampled = 0;                             ///< simulated steps that the steps are drawn from
  int histories = 0;                           ///< what follows is their mean
  TimeSpent shares;                            ///< of 1
  double least_goodput = 0, most_goodput = 0;  ///< among the histories
  Seconds wall;
  double steps = 0;  ///< that survive
  double interruptions = 0;
  Seconds p50, p95, p99, most;       ///< of all steps that were run, checkpoints included
  double expected_goodput = 0;       ///< by renewal theory, with these checkpoints; 0 without
  std::optional<BestInterval> best;  ///< where checkpoints are known and something fails
};

/// Of all samples together.
Seconds mean_step_of(const std::vector<std::vector<Seconds>>& worlds);

/// `worlds`: samples that differ in what is drawn once for a run; each history lives in one of
/// them. The steps of `travel` are not used. REQUIRES: at least one world and history.
LongRun long_run(Travel travel, const std::vector<std::vector<Seconds>>& worlds, int histories,
                 RandomKey key);

}  // namespace stepsim
