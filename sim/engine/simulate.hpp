// Executing a plan in simulated time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/plan/fold.hpp"
#include "sim/plan/plan.hpp"
#include "sim/timeline/timeline.hpp"

namespace stepsim {

struct EngineStats {
  std::int64_t ranks_total = 0;
  std::int64_t ranks_simulated = 0;
  std::int64_t events = 0;     ///< ends of chains, copies, latencies, transfers
  std::int64_t kernels = 0;    ///< kernels whose times the chains hold
  std::int64_t transfers = 0;  ///< transfers that shared a link that could not carry all of them
  std::int64_t ranks_recorded = 0;    ///< ranks whose spans are kept: one of each class
  std::int64_t ranks_unrecorded = 0;  ///< classes left out, for their spans are too many to keep
};

/// The spans that are kept of all ranks: 450 MB of them, the step of 500 ranks of a large model.
inline constexpr std::size_t kMostSpans = 4'000'000;

struct SimulateOptions {
  bool spans = true;     ///< false: the timeline has the ends of the steps only
  bool fold = true;      ///< false: every rank is simulated by itself
  bool kernels = false;  ///< spans of single kernels instead of chains, for traces
  /// Ranks whose spans are kept even where those of all are more than `most_spans`.
  std::vector<int> shown{};
  std::size_t most_spans = kMostSpans;
  /// Not 0: links are faster by up to 1e-12 of their rates, each in a way that follows from this
  /// number and from nothing else.
  std::uint64_t nudge = 0;
};

struct Simulation {
  /// Has one rank of each class, or where that is too much some of them (recorded_ranks.hpp).
  Timeline timeline;
  EngineStats stats;
};

/// Runs the plan to its end. Throws SimulationError, naming who waits for whom, when it cannot end.
/// With SimGrid as the plan's engine one at a time per process: it has one clock.
Simulation simulate(const Plan& plan, const SimulateOptions& options = {});

}  // namespace stepsim
