// The search itself: bounds first, then simulations in order of their bounds, until no bound that
// is left is below the best simulated step.
//
// Bounds are coarse first; one that would be simulated gets a closer one, and its turn may pass.
// What it simulates does not depend on how many simulations run at the same time: it decides after
// batches of one size.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "sim/search/bound.hpp"
#include "sim/search/space.hpp"

namespace stepsim {

/// What simulating a strategy came to.
struct StrategyOutcome {
  std::string refusal;  ///< by the reader or the planner; then there is nothing else
  /// Why there is no answer: stages that wait for each other, a crash, a limit; then there is
  /// nothing else.
  std::string failure;
  bool is_open = false;    ///< with a failure: it might have an answer all the same
  bool is_defect = false;  ///< with a failure: it is a mistake of stepsim itself
  Bytes peak;              ///< what the stage that needs most holds
  bool fits = true;        ///< false: it was not simulated
  Seconds step;
  double mfu = 0;
  /// Whether there is a step, of a strategy that fits.
  bool ran() const { return refusal.empty() && failure.empty() && fits && step > Seconds{0}; }
};

struct TriedStrategy {
  Strategy strategy;
  Bound bound;
  StrategyOutcome outcome;
  bool is_own = false;  ///< the scenario as it stands
  /// The most that is known of its memory.
  Bytes needed() const { return std::max(bound.memory, outcome.peak); }
};

struct SearchLimits {
  int simulations = 0;                ///< at most
  std::function<bool()> enough;       ///< no more bounds are wanted; empty: never
  std::function<bool()> expired;      ///< no more simulations; empty: never
  std::function<bool()> interrupted;  ///< nothing more at all; empty: never
  std::size_t keep = 0;
  Bytes capacity;
  /// The scenario as it stands, simulated, where it fits: it is ranked among the others.
  std::optional<TriedStrategy> own;
};

struct SearchCounts {
  std::int64_t considered = 0;  ///< all strategies of the space
  std::int64_t refused = 0;     ///< break a rule: divisors, schedules, shardings
  std::int64_t too_large = 0;   ///< cannot fit in memory
  std::int64_t pruned = 0;      ///< cannot be faster than the best
  std::int64_t simulated = 0;
  std::int64_t no_memory = 0;  ///< were looked at, and do not fit in memory
  std::int64_t left = 0;       ///< were neither simulated nor pruned
  std::int64_t failed = 0;     ///< were tried, without an answer
  std::int64_t defects = 0;    ///< failed by a mistake of stepsim itself
  /// Failed, and might have an answer that is faster than the best.
  std::int64_t open = 0;
  std::int64_t below_bound = 0;  ///< were simulated faster than their bounds, which is wrong
  bool has_defect() const { return defects > 0 || below_bound > 0; }
};

/// Why strategies are left.
enum class SearchEnd : std::uint8_t { complete, simulations, expired, interrupted };

struct SearchOutcome {
  SearchCounts counts;
  std::vector<TriedStrategy> ranked;      ///< what fits, the fastest first
  std::optional<TriedStrategy> smallest;  ///< the least memory bound, where nothing fits
  std::optional<TriedStrategy> failed;    ///< what failed first
  SearchEnd end = SearchEnd::complete;
  bool is_whole = true;  ///< every strategy has been looked at
  std::string refusal;   ///< what the reader or the planner refused first, and no rule foresaw
  Seconds least_left{std::numeric_limits<double>::infinity()};  ///< lowest bound that is left
  bool interrupted() const { return end == SearchEnd::interrupted; }
  bool proven() const {
    return counts.left == 0 && counts.open == 0 && counts.below_bound == 0 && is_whole;
  }
};

/// Simulates strategies: an outcome for each, or nothing where an interrupt or the end of the time
/// came before.
using SimulateStrategies = std::function<std::vector<std::optional<StrategyOutcome>>(
    const std::vector<TriedStrategy>& batch)>;

/// How far it is, for people who wait.
struct SearchProgress {
  std::int64_t considered = 0, simulated = 0;
  std::optional<Seconds> best;
};

SearchOutcome search(const Axes& axes, const SearchBase& base, const SearchLimits& limits,
                     const SimulateStrategies& simulate,
                     const std::function<void(const SearchProgress&)>& on_progress);

}  // namespace stepsim
