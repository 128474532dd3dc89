// What a search simulates, each in a process of its own: strategies, the scenario itself, what
// makes the best better, and a whole training.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sim/command/search/search.hpp"
#include "sim/plan/plan_cache.hpp"
#include "sim/process/forked.hpp"
#include "sim/report/search/search_report.hpp"
#include "sim/scenario/load.hpp"
#include "sim/search/best_first.hpp"

namespace stepsim {

/// The scenario, and which of its keys it states.
SearchBase search_base(const ScenarioArgument& argument, const Library& library);

class SearchRuns {
 public:
  using Until = std::optional<std::chrono::steady_clock::time_point>;

  /// REQUIRES: all of these live as long as it does.
  SearchRuns(const SearchOptions& options, const SearchBase& base, const Library& library,
             PlanCache& cache);

  /// Each as `stepsim run --set ...` would; nothing for those that an interrupt or the end of the
  /// time came before.
  std::vector<std::optional<StrategyOutcome>> of(const std::vector<TriedStrategy>& batch,
                                                 const Until& until) const;

  /// The scenario as it stands; nothing: an interrupt or the end of the time came before. Throws
  /// UserError where the planner refuses.
  std::optional<StrategyOutcome> own(const Until& until) const;

  /// What `stepsim run` takes to run it.
  ScenarioArgument argument_of(const TriedStrategy& tried) const;

  /// What each framework lacks of it.
  std::vector<FrameworkFit> frameworks_of(const TriedStrategy& best) const;

  std::optional<SearchReason> reason_of(const TriedStrategy& best) const;

  /// A training of so many steps, with checkpoints and failures where the scenario states either.
  std::optional<TrainedRun> trained(const TriedStrategy& best, std::int64_t steps) const;

 private:
  std::vector<std::optional<StrategyOutcome>> outcomes_of(
      int count, const std::function<std::string(int)>& work, const Until& until) const;
  std::string answer_of(const Strategy& strategy) const;

  const SearchOptions& options_;
  const SearchBase& base_;
  const Library& library_;
  PlanCache& cache_;  ///< a strategy mostly has the groups of the one before
  int jobs_ = 1;
  ForkLimits limits_;
};

}  // namespace stepsim
