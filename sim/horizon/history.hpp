// One history of a long run, event by event: every step drawn, every failure, every recovery.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "sim/core/random.hpp"
#include "sim/horizon/journey.hpp"
#include "sim/scenario/horizon.hpp"

namespace stepsim {

/// What a history is drawn from: the steps, checkpoints and failures of a run, and its horizon.
struct Travel {
  /// simulated, without checkpoints; each step of a history is one of them
  std::vector<Seconds> steps;
  CheckpointTimes checkpoint;
  std::int64_t every = 0;  ///< steps between checkpoints; 0: none, a failure undoes everything
  Failures failures;
  Horizon horizon;
  std::int64_t at_once = 1;  ///< steps that share one draw; more in a long run, to draw less often
};

struct History {
  TimeSpent time;          ///< seconds
  std::int64_t steps = 0;  ///< steps that survive, or that no failure has undone yet
  std::int64_t failures = 0;
  /// How often each simulated step was run with no checkpoint behind it; undone steps count, too.
  std::vector<std::int64_t> plain;
  /// How often each simulated step was run with a checkpoint behind it.
  std::vector<std::int64_t> blocked;
  /// How often a step with its checkpoint took so long because the checkpoint had to wait for the
  /// write of the one before; the times are rounded to five digits.
  std::map<Seconds, std::int64_t> waited;
};

/// Draws one history. The same key gives the same history. REQUIRES: steps that take time; a
/// horizon of time or of steps. Throws UserError where it would take more than kMostEvents steps or
/// failures.
History draw_history(const Travel& travel, RandomKey key);
inline constexpr std::int64_t kMostEvents = 100'000'000;

}  // namespace stepsim
