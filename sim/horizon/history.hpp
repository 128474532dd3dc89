// One history of a long run, event by event: every step drawn, every failure, every recovery.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "sim/core/random.hpp"
#include "sim/horizon/journey.hpp"
#include "sim/scenario/horizon.hpp"

namespace stepsim {

/// What histories draw from.
struct Travel {
  std::vector<Seconds> steps;  ///< simulated ones without checkpoints; each step is one of them
  CheckpointTimes checkpoint;
  std::int64_t every = 0;  ///< steps between checkpoints; 0: none, a failure undoes everything
  Failures failures;
  Horizon horizon;
  std::int64_t at_once = 1;  ///< steps that are drawn together: of a long run more, to draw less
};

struct History {
  TimeSpent time;          ///< seconds
  std::int64_t steps = 0;  ///< that survive, or have not been undone yet
  std::int64_t failures = 0;
  std::vector<std::int64_t> plain;    ///< how often each step was run, also those undone,
  std::vector<std::int64_t> blocked;  ///< and how often with a checkpoint at its end,
  /// and how often one that took so long, as it waited for the write before; to five digits.
  std::map<Seconds, std::int64_t> waited;
};

/// Numbers are drawn by the key alone. REQUIRES: steps that take time; a horizon of time or of
/// steps. Throws UserError where it would take more than kMostEvents steps or failures.
History draw_history(const Travel& travel, RandomKey key);
inline constexpr std::int64_t kMostEvents = 100'000'000;

}  // namespace stepsim
