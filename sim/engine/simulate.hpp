// Executing a plan in simulated time.
#pragma once

#include <cstdint>

#include "sim/plan/fold.hpp"
#include "sim/plan/plan.hpp"
#include "sim/timeline/timeline.hpp"

namespace stepsim {

struct EngineStats {
  std::int64_t ranks_total = 0;
  std::int64_t ranks_simulated = 0;
  /// Times that the clock called back: ends of chains, copies, latencies, transfers.
  std::int64_t events = 0;
  std::int64_t kernels = 0;    ///< kernels whose times the chains hold
  std::int64_t transfers = 0;  ///< transfers that shared links in SimGrid
};

struct SimulateOptions {
  bool spans = true;     ///< false: the timeline has the ends of the steps only
  bool fold = true;      ///< false: every rank is simulated by itself
  bool kernels = false;  ///< spans of single kernels instead of chains, for traces
};

struct Simulation {
  Timeline timeline;  ///< has one rank of each class
  EngineStats stats;
};

/// Runs the plan to its end. Throws SimulationError, naming who waits for whom, when it cannot end.
/// One at a time per process: SimGrid has one clock.
Simulation simulate(const Plan& plan, const SimulateOptions& options = {});

}  // namespace stepsim
