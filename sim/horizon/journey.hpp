// A long training run in a few numbers: steps, checkpoints, failures; and where its time goes.
//
// This room takes values and knows no engine: how long a step and a checkpoint take was simulated
// before, or is made up by a test.
#pragma once

#include <algorithm>
#include <cstdint>

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

/// What interrupts a run, and what follows. Failures come at a constant rate, always: during
/// steps, checkpoints and recovery, too.
struct Failures {
  PerSecond rate;  ///< of the whole job: one over its mean time between failures
  Seconds detection, restart;
  Seconds reload;  ///< of the last durable checkpoint
  Seconds recovery() const { return detection + restart + reload; }
};

/// Training that repeats: steps, and after every so many a checkpoint.
struct Journey {
  Seconds step;  ///< the mean
  CheckpointTimes checkpoint;
  Failures failures;
};

/// Where the time of a run goes: its parts sum to the time. As seconds, or as shares of 1.
struct TimeSpent {
  double useful = 0;       ///< steps whose result survives: of 1, this is the goodput
  double checkpoints = 0;  ///< blocking and slowdown of those that survive
  double lost = 0;         ///< work that a failure undid, and checkpoints with it
  double detection = 0, restart = 0, reload = 0;
  double total() const { return useful + checkpoints + lost + detection + restart + reload; }
  TimeSpent over(double time) const {
    return {useful / time,    checkpoints / time, lost / time,
            detection / time, restart / time,     reload / time};
  }
};

}  // namespace stepsim
