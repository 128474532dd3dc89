// A long run as a report shows it: what its drawn histories have in common, and what theory says.
#pragma once

#include <vector>

#include "sim/horizon/history.hpp"
#include "sim/horizon/interval.hpp"

namespace stepsim {

/// The checkpoint interval that renewal theory finds best.
struct BestInterval {
  std::int64_t every = 0;  ///< steps from one checkpoint to the next
  double goodput = 0;      ///< the goodput expected with it
  Seconds young, daly;     ///< the intervals by Young's and by Daly's formula, in time
};

struct LongRun {
  Horizon horizon;
  std::int64_t every = 0;  ///< steps from one checkpoint to the next; 0: no checkpoints
  CheckpointTimes checkpoint;
  Failures failures;
  Seconds step;       ///< mean time of a step without a checkpoint
  int sampled = 0;    ///< simulated steps that the steps are drawn from
  int histories = 0;  ///< histories drawn; the times and counts below are their means
  TimeSpent shares;   ///< shares of 1
  double least_goodput = 0, most_goodput = 0;  ///< the least and the most of one history
  Seconds wall;
  double steps = 0;  ///< steps that survive
  double interruptions = 0;
  Seconds p50, p95, p99, most;  ///< times of all steps that were run, checkpoints included
  /// goodput by renewal theory with these checkpoints; 0 without checkpoints
  double expected_goodput = 0;
  std::optional<BestInterval> best;  ///< where checkpoints are known and something fails
};

/// The mean time of a step over all samples of all worlds.
Seconds mean_step_of(const std::vector<std::vector<Seconds>>& worlds);

/// Draws histories and summarises them. `worlds` are samples of steps that differ in what is drawn
/// once for a run; each history lives in one of them. The steps of `travel` are not used. REQUIRES:
/// at least one world and history.
LongRun long_run(Travel travel, const std::vector<std::vector<Seconds>>& worlds, int histories,
                 RandomKey key);

}  // namespace stepsim
