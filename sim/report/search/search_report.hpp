// What a search found, ready to be printed.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/search/best_first.hpp"
#include "sim/text/humanise.hpp"
#include "sim/text/layout.hpp"
#include "sim/timeline/timeline.hpp"

namespace stepsim {

/// What makes the step of the best shorter than that of the scenario.
struct SearchReason {
  CauseSeconds own{}, best{};  ///< of the slowest stage; each sums to its step
};

/// A whole training with the best strategy.
struct TrainedRun {
  double steps = 0;
  double tokens = 0;  ///< 0: samples only
  Seconds wall;       ///< with checkpoints and failures, where the scenario has checkpoints
  std::optional<double> goodput;  ///< likewise
};

/// The search of one number of GPUs.
struct SearchReport {
  std::string scenario, model, gpu;
  int gpus = 0;
  Bytes capacity;
  std::int64_t global_batch = 0;
  std::optional<StrategyOutcome> own;  ///< the scenario as it stands, where it has so many GPUs
  bool interrupted = false;            ///< the search, or what was asked about its best
  SearchOutcome outcome;
  std::vector<std::string> commands;  ///< for each that is listed; the first is the best
  std::vector<TriedStrategy> listed;
  std::optional<SearchReason> reason;      ///< where both fit
  std::optional<TrainedRun> run;           ///< where a length is known
  std::string no_run;                      ///< why there is none
  std::optional<double> dollars_per_hour;  ///< of a GPU
  std::optional<Seconds> deadline;         ///< of the training
  bool is_restricted = false;              ///< by --only
};

/// How the steps of a search are printed.
struct StepColumn {
  Column column;
  bool each_its_unit = false;  ///< they are too far apart for one
  std::string text(Seconds step) const;
};
StepColumn step_column(const SearchOutcome& outcome, const std::optional<StrategyOutcome>& own);

/// The first `keep` of the ranking, without those that differ from one before in the bucket alone.
/// Steps that print alike, a thousandth apart at most, are in order of memory.
std::vector<TriedStrategy> listed_of(const SearchOutcome& outcome, const StepColumn& column,
                                     std::size_t keep);

/// "saves 5.73 s of recompute and 2.11 s of pipeline bubble, and spends 0.20 s more on ..."
std::string reason_text(const SearchReason& reason);

/// "300 G tokens in 34.2 days, 840,000 GPU hours, 1,680,000.00 $, goodput 94.1 %"
std::string trained_text(const TrainedRun& run, int gpus, std::optional<double> dollars_per_hour);

/// Of a training whose scenario states neither checkpoints nor failures.
inline constexpr const char* kWithoutFailures =
    "; without checkpoints and failures, which are not stated";

/// "in time: 4.5 days before the deadline of 30.0 days"
std::string in_time_text(Seconds wall, Seconds deadline);

/// The command in lines of a shell, of that width where its words allow it.
std::vector<std::string> shell_lines(const std::string& command, int width);

/// ": 128 samples do not divide among 96 GPUs"; empty where they do.
std::string undivided_text(std::int64_t global_batch, int gpus);

/// "12 strategies: 3 do not fit together, ..."
std::string counts_text(const SearchCounts& counts);

/// "the 300 simulations are used up (--simulations allows more)"; empty: all has been done.
std::string end_text(const SearchOutcome& outcome);
/// What failed: how many, and the first of them. Empty: nothing.
std::string failures_text(const SearchOutcome& outcome);
/// What is closest where nothing fits.
std::string closest_text(const SearchOutcome& outcome, Bytes capacity);
/// Whether it needs more than there is while the allocator keeps fragments.
bool is_tight(const StrategyOutcome& outcome, Bytes capacity);
/// What a table of strategies says of those, and of those that nearly fill a GPU.
std::string tight_text(Bytes capacity);
std::string nearly_full_text(Bytes capacity);

std::string search_text(const SearchReport& report, const Style& style);
std::string search_json(const SearchReport& report);
std::string search_csv(const SearchReport& report);

}  // namespace stepsim
