// A long training run in a few numbers: steps, checkpoints, failures; and where its time goes.
//
// This room takes values and knows no engine: how long a step and a checkpoint take was simulated
// before, or is made up by a test.
#pragma once

#include <algorithm>

#include "sim/core/quantity.hpp"

namespace stepsim {

/// What one checkpoint costs a run.
struct CheckpointTimes {
  Seconds blocking;  ///< training waits
  Seconds slowdown;  ///< what the steps after it take longer, all together
  Seconds durable;   ///< from its beginning until a failure does not lose it; at least `blocking`
  bool operator==(const CheckpointTimes&) const = default;
};

/// Time from one durable checkpoint to the next where nothing fails, with `steps` between them: the
/// next one waits until this one is written.
inline Seconds undisturbed_interval(Seconds steps, const CheckpointTimes& checkpoint) {
  const Seconds disturbed = std::max(checkpoint.blocking + checkpoint.slowdown, Seconds{0});
  return std::max(steps + disturbed, checkpoint.durable);
}

/// What interrupts a run, and what follows. Failures come at a constant rate at any time: in steps,
/// in checkpoints and in recovery.
struct Failures {
  PerSecond rate;  ///< rate of failures of the whole job: one over its mean time between failures
  Seconds detection, restart;
  Seconds reload;  ///< time to load the last durable checkpoint again
  Seconds recovery() const { return detection + restart + reload; }
};

/// Training that repeats: steps, with a checkpoint after every so many.
struct Journey {
  Seconds step;  ///< mean time of a step
  CheckpointTimes checkpoint;
  Failures failures;
};

/// Where the time of a run goes: in seconds, or in shares of 1. The parts sum to the whole.
struct TimeSpent {
  double useful = 0;       ///< steps whose result survives; as a share of 1, this is the goodput
  double checkpoints = 0;  ///< blocking and slowdown of the checkpoints that survive
  double lost = 0;         ///< work that a failure undid, with the checkpoints in it
  double detection = 0, restart = 0, reload = 0;
  /// No kernel runs meanwhile.
  double idle() const { return detection + restart + reload; }
  double total() const { return useful + checkpoints + lost + detection + restart + reload; }
  TimeSpent over(double time) const {
    return {useful / time,    checkpoints / time, lost / time,
            detection / time, restart / time,     reload / time};
  }
};

}  // namespace stepsim
